/*
 * config - a policy file (ccr.json), read, checked and from then on constant
 *
 * docs/man/ccr.json.5 documents the format, docs/ccr.schema.json is its JSON Schema. Every error
 * has the form `FILE:LINE: FIELD: found X, expected Y`; the first one ends the reading. What is
 * right but probably not meant is collected as warnings.
 */
#ifndef CCR_CORE_CONFIG_H
#define CCR_CORE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/contributions.h"
#include "core/error.h"
#include "core/groups.h"
#include "core/policy.h"
#include "core/usage_model.h"

/* The largest policy file that is read. */
#define CCR_CONFIG_MAX_BYTES ((size_t)1 << 20)
#define CCR_CONFIG_VERSION   1

/* A text to be evaluated, and where it stands. */
struct ccr_formula {
	char *text;    /* NULL: the column is 0 */
	char *where;   /* the file's name, or "preset NAME" */
	unsigned line; /* in there */
	bool preset;   /* comes from the preset */
	bool job_sort; /* was given as job_sort_formula */
};

enum ccr_usage_charge {
	CCR_CHARGE_BILLING, /* TRESBillingWeights of the job's partition */
	CCR_CHARGE_CPUS,
	CCR_CHARGE_NODES,
	CCR_CHARGE_GPUS,
};

enum ccr_usage_source {
	CCR_SOURCE_AUTO,   /* Slurm's associations where there is a database, else the ledger */
	CCR_SOURCE_SLURM,  /* the associations' usage */
	CCR_SOURCE_LEDGER, /* the plugin's own */
};

struct ccr_config_usage {
	enum ccr_usage_kind model;
	int64_t interval;  /* s, windows; default 86400 */
	int depth;	   /* windows; default 7 */
	double decay;	   /* windows; 0 to 1, default 0.8 */
	double hist_hours; /* h, lsf; default 10 */
	enum ccr_usage_charge charge;
	enum ccr_usage_source source;
	double gpu_weight; /* CPUs that a GPU costs, where Slurm cannot bill GPUs; default 32 */
};

struct ccr_user_shares {
	char *user;
	double shares;
};

/*
 * priority = shares / (constant + run_time_factor x run hours + cpu_time_factor x CPU hours +
 * run_job_factor x jobs started)
 */
struct ccr_config_lsf {
	double constant;	/* default 3.0 */
	double cpu_time_factor; /* default 0 */
	double run_time_factor; /* default 0.7 */
	double run_job_factor;	/* default 3.0 */
	double user_shares;	/* of a user who is not listed; default 1 */
	int array_tasks;	/* jobs of a user that are ranked one by one; default 32 */
	struct ccr_user_shares *users;
	size_t n_users;
};

struct ccr_backfill_partition {
	char *name;
	unsigned line;
	bool has_depth, has_strict; /* else the defaults hold: see ccr_config_backfill_of() */
	int depth;
	bool strict;
};

struct ccr_config_backfill {
	bool enabled;	/* default true */
	int depth;	/* bookings a partition; default 10 */
	bool strict;	/* nobody passes a blocked job; default false */
	int64_t window; /* s; default 7 days */
	bool placement; /* default true */
	bool has_long_jobs;
	int64_t long_over;	  /* s: a job with a longer limit is long */
	double long_gpu_fraction; /* 0 to 1: of the GPUs that long jobs may take together */
	struct ccr_backfill_partition *partitions;
	size_t n_partitions;
};

struct ccr_warning {
	unsigned line;
	char *text; /* complete, as an error's */
};

struct ccr_config {
	char *name;   /* of the file, for messages */
	char *preset; /* NULL without one */
	char *text;   /* the file, byte for byte; terminated by a 0 that text_len does not count */
	size_t text_len;
	struct ccr_formula column[CCR_COLUMNS];
	struct ccr_constant *constants; /* the names are the config's */
	size_t n_constants;
	int64_t base;	   /* 0 to 2147483647, default 1000000 */
	bool exact_points; /* columns keep fractions; default: whole points (core/score.h) */
	struct ccr_groups groups;
	struct ccr_support_rule financial[CCR_SUPPORT_COUNT];
	struct ccr_config_usage usage;
	struct ccr_config_lsf lsf;
	struct ccr_config_backfill backfill;
	struct ccr_warning *warnings;
	size_t n_warnings;

	/* For the loader. */
	char *default_group;
	unsigned default_group_line;
};

struct ccr_config_options {
	/* The calendar year of today, for dollars averaged over the last three full years. */
	int year;
	/* Refuse a file that others than root and owner can write (ccr_config_check_owner). */
	bool check_owner;
	uid_t owner;
	/* The file need not rank jobs: the gate alone reads it. */
	bool rank_optional;
};

/*
 * Reads a policy file. *out is for the caller to free with ccr_config_free(); it is not changed on
 * failure. CCR_EINVAL: the file is wrong (err->line is the line, 0 for the file as a whole);
 * CCR_EIO: it cannot be read; CCR_ENOMEM. The file is opened once: what is checked, parsed and kept
 * in ->text are the same bytes.
 */
int ccr_config_load(const char *path, const struct ccr_config_options *options,
		    struct ccr_config **out, struct ccr_error *err);

/* The same from memory; name stands for the file's in messages. check_owner does not apply. */
int ccr_config_parse(const char *text, size_t len, const char *name,
		     const struct ccr_config_options *options, struct ccr_config **out,
		     struct ccr_error *err);

void ccr_config_free(struct ccr_config *config);

/*
 * CCR_EINVAL if the file of this state belongs to neither root nor owner, or its group or everybody
 * may write it. An ACL that lets others write shows as the group's write bit.
 */
int ccr_config_check_owner(const struct stat *st, const char *name, uid_t owner,
			   struct ccr_error *err);

/*
 * What ccr_policy_compile() takes, pointing into the config, which has to live as long as the spec.
 * The loader has compiled it once: it is known to be good.
 */
void ccr_config_policy_spec(const struct ccr_config *config, struct ccr_policy_spec *spec);

/* Depth and strictness that hold for a partition. Either result may be NULL. */
void ccr_config_backfill_of(const struct ccr_config *config, const char *partition, int *depth,
			    bool *strict);

/*
 * The key that a column's expression has in the file, "policy.age" or "job_sort_formula". In static
 * memory.
 */
const char *ccr_config_formula_key(const struct ccr_config *config, int column);

/* The shares of a user under the lsf model. */
double ccr_config_lsf_shares(const struct ccr_config *config, const char *user);

/*
 * Calls each(section, key, data) for every key that the loader knows, section being "" for the top
 * and, for example, "groups.*" for the members of every group.
 */
void ccr_config_keys(void (*each)(const char *section, const char *key, void *data), void *data);

/* The names of the presets, NULL at the end. Static. */
const char *const *ccr_config_presets(void);

/* The text of a preset, terminated; NULL for an unknown one. *len, if not NULL, is its length. */
const char *ccr_config_preset_text(const char *name, size_t *len);

/* Names for people and for the file. Static. */
const char *ccr_usage_charge_name(enum ccr_usage_charge charge);
const char *ccr_usage_source_name(enum ccr_usage_source source);

#endif
