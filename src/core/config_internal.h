/*
 * config_internal - what the parts of the policy file's loader know of each other
 */
#ifndef CCR_CORE_CONFIG_INTERNAL_H
#define CCR_CORE_CONFIG_INTERNAL_H

#include "core/config_read.h"

struct ccr__section {
	const char *name; /* "groups.*": as ccr_config_keys() has it */
	const struct ccr__key *keys;
	size_t count;
};

/* Readers of a top-level key: into is the struct ccr_config. */
int ccr__read_policy(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_job_sort(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_formula_column(struct ccr__reader *r, const struct ccr__value *v, void *into,
			     int arg);
int ccr__read_constants(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_groups(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_tiers(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_default_group(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_financial(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_usage(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_lsf(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
int ccr__read_backfill(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);

/* Reads a group's contributions; *out is malloc'd. */
int ccr__read_contributions(struct ccr__reader *r, const struct ccr__value *v,
			    struct ccr_contributions **out);

/*
 * At the end of each text: job_sort_formula is the whole score and takes the place of every column
 * of a preset.
 */
int ccr__finish_job_sort(struct ccr__reader *r);

/* A policy that ranks by something, and whose expressions compile; notes what it reads. */
int ccr__finish_policy(struct ccr__reader *r);

/* Once everything is read: names resolved, sums held, defaults inherited, factors computed. */
int ccr__finish_groups(struct ccr__reader *r);
int ccr__finish_usage(struct ccr__reader *r);

void ccr__formula_clear(struct ccr_formula *f);
void ccr__lsf_clear(struct ccr_config_lsf *lsf);
void ccr__backfill_clear(struct ccr_config_backfill *backfill);

/* Key tables: sections[0..*count). */
const struct ccr__section *ccr__policy_sections(size_t *count);
const struct ccr__section *ccr__group_sections(size_t *count);
const struct ccr__section *ccr__financial_sections(size_t *count);
const struct ccr__section *ccr__usage_sections(size_t *count);
const struct ccr__section *ccr__backfill_sections(size_t *count);

#define CCR__COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
