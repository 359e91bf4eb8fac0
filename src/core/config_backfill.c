/*
 * config_backfill - the policy file's section on bookings: backfill
 */
#include <stdlib.h>
#include <string.h>

#include "core/config_internal.h"

#define MOST_BOOKINGS 10000
#define A_DEPTH	      "a number of bookings from 0 to 10000"

static int read_depth(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	int64_t n;
	int rc = ccr__integer(r, v, 0, MOST_BOOKINGS, A_DEPTH, &n);

	(void)arg;
	if (!rc)
		*(int *)into = (int)n;
	return rc;
}

/* --- partitions --- */

/* What one partition gives; the rest comes from the defaults once all is read. */
struct partition_read {
	int depth;
	bool strict, has_depth, has_strict;
};

static int read_partition_depth(struct ccr__reader *r, const struct ccr__value *v, void *into,
				int arg)
{
	struct partition_read *p = into;

	p->has_depth = true;
	return read_depth(r, v, &p->depth, arg);
}

static int read_partition_strict(struct ccr__reader *r, const struct ccr__value *v, void *into,
				 int arg)
{
	struct partition_read *p = into;

	(void)arg;
	p->has_strict = true;
	return ccr__boolean(r, v, &p->strict);
}

static const struct ccr__key partition_keys[] = {
    {"depth", read_partition_depth, 0},
    {"strict", read_partition_strict, 0},
};

static struct ccr_backfill_partition *find_partition(struct ccr_config_backfill *b,
						     const char *name)
{
	for (size_t i = 0; i < b->n_partitions; i++)
		if (strcmp(b->partitions[i].name, name) == 0)
			return &b->partitions[i];
	return NULL;
}

static int read_partition(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			  void *into)
{
	static const char what[] = A_DEPTH ", or an object with \"depth\" and \"strict\"";
	struct ccr_config_backfill *b = into;
	struct partition_read read = {.depth = -1};
	struct ccr_backfill_partition *p;
	int64_t n;
	int rc = ccr__check_name(r, key, v->line, "the name of a partition");

	if (rc)
		return rc;
	if (json_object_is_type(v->json, json_type_object)) {
		rc = ccr__object(r, v, what, partition_keys, CCR__COUNT(partition_keys), &read);
	} else {
		rc = ccr__integer(r, v, 0, MOST_BOOKINGS, what, &n);
		read.has_depth = true;
		read.depth = rc ? 0 : (int)n;
	}
	if (rc)
		return rc;
	p = find_partition(b, key);
	if (!p) {
		rc = ccr__check_room(r, v->line, b->n_partitions, "partitions");
		if (!rc)
			rc = ccr__grow(r, &b->partitions, b->n_partitions, sizeof(*b->partitions));
		if (!rc)
			rc = ccr__copy(r, key, &b->partitions[b->n_partitions].name);
		if (rc)
			return rc;
		p = &b->partitions[b->n_partitions++];
	}
	p->line = v->line;
	p->has_depth = read.has_depth;
	p->depth = read.depth;
	p->has_strict = read.has_strict;
	p->strict = read.strict;
	return 0;
}

static int read_partitions(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	(void)arg;
	return ccr__each(r, v, "an object with the depth of each partition", read_partition, into);
}

/* --- long_jobs --- */

struct long_read {
	struct ccr_config_backfill *b;
	bool has_over, has_fraction;
};

static int read_over(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct long_read *l = into;

	(void)arg;
	l->has_over = true;
	return ccr__duration(r, v, 1, &l->b->long_over);
}

static int read_fraction(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct long_read *l = into;

	(void)arg;
	l->has_fraction = true;
	return ccr__number(r, v, 0, 1, "a fraction from 0 to 1", &l->b->long_gpu_fraction);
}

static const struct ccr__key long_keys[] = {
    {"over", read_over, 0},
    {"gpu_fraction", read_fraction, 0},
};

static int read_long_jobs(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	static const char what[] = "an object with \"over\" and \"gpu_fraction\"";
	struct long_read l = {.b = into};
	int rc = ccr__object(r, v, what, long_keys, CCR__COUNT(long_keys), &l);

	(void)arg;
	if (rc)
		return rc;
	if (!l.has_over || !l.has_fraction)
		return ccr__bad(r, v->line, l.has_over ? "no gpu_fraction" : "no over", "%s", what);
	l.b->has_long_jobs = true;
	return 0;
}

/* --- backfill --- */

enum flag { ENABLED, STRICT, PLACEMENT };

static int read_flag(struct ccr__reader *r, const struct ccr__value *v, void *into, int flag)
{
	struct ccr_config_backfill *b = into;

	return ccr__boolean(r, v,
			    flag == ENABLED  ? &b->enabled
			    : flag == STRICT ? &b->strict
					     : &b->placement);
}

static int read_default_depth(struct ccr__reader *r, const struct ccr__value *v, void *into,
			      int arg)
{
	struct ccr_config_backfill *b = into;

	return read_depth(r, v, &b->depth, arg);
}

static int read_window(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_backfill *b = into;

	(void)arg;
	return ccr__duration(r, v, 60, &b->window);
}

static const struct ccr__key backfill_keys[] = {
    {"enabled", read_flag, ENABLED},	{"depth", read_default_depth, 0},
    {"partitions", read_partitions, 0}, {"strict", read_flag, STRICT},
    {"window", read_window, 0},		{"placement", read_flag, PLACEMENT},
    {"long_jobs", read_long_jobs, 0},
};

int ccr__read_backfill(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config *c = into;

	(void)arg;
	return ccr__object(r, v, "an object with the rules for bookings", backfill_keys,
			   CCR__COUNT(backfill_keys), &c->backfill);
}

void ccr__backfill_clear(struct ccr_config_backfill *backfill)
{
	for (size_t i = 0; i < backfill->n_partitions; i++)
		free(backfill->partitions[i].name);
	free(backfill->partitions);
	backfill->partitions = NULL;
	backfill->n_partitions = 0;
}

void ccr_config_backfill_of(const struct ccr_config *config, const char *partition, int *depth,
			    bool *strict)
{
	const struct ccr_config_backfill *b = &config->backfill;
	int d = b->depth;
	bool s = b->strict;

	for (size_t i = 0; partition && i < b->n_partitions; i++) {
		const struct ccr_backfill_partition *p = &b->partitions[i];

		if (strcmp(p->name, partition) != 0)
			continue;
		d = p->has_depth ? p->depth : d;
		s = p->has_strict ? p->strict : s;
		break;
	}
	if (depth)
		*depth = d;
	if (strict)
		*strict = s;
}

const struct ccr__section *ccr__backfill_sections(size_t *count)
{
	static const struct ccr__section sections[] = {
	    {"backfill", backfill_keys, CCR__COUNT(backfill_keys)},
	    {"backfill.partitions.*", partition_keys, CCR__COUNT(partition_keys)},
	    {"backfill.long_jobs", long_keys, CCR__COUNT(long_keys)},
	};

	*count = CCR__COUNT(sections);
	return sections;
}
