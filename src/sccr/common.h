/*
 * common - what several subcommands need: the policy that was named, and the weights of slurm.conf
 */
#ifndef SCCR_COMMON_H
#define SCCR_COMMON_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/config.h"
#include "core/score.h"
#include "sccr/safe.h"
#include "sccr/sim_cluster.h"

/* This calendar year, in local time. */
int sccr_this_year(void);

/*
 * Reads a policy file, or the preset of that name where there is no such file. The caller frees
 * *out with ccr_config_free(). Errors as for ccr_config_load().
 */
int sccr_policy_load(const char *name, struct ccr_config **out, struct ccr_error *err);

/*
 * Compiles the policy, or that column of it alone (a column below 0: all); the caller frees *out
 * with ccr_policy_free().
 */
int sccr_policy_compile(const struct ccr_config *config, int column, struct ccr_policy **out,
			struct ccr_error *err);

/*
 * A warning on standard error, behind `words`, if the file does not belong to root or SlurmUser, or
 * others can write it. A file that is not there is none to warn of.
 */
void sccr_warn_of_owner(const char *path, uid_t slurm_user, const char *words);

/* The SlurmUser of settings of a slurm.conf; root where they do not name one. */
uid_t sccr_slurm_user(const struct sim_cluster *settings);

/* sprio's title of a column ("JOBSIZE") and its weight's name in slurm.conf; NULL for SITE's. */
const char *sccr_column_title(int column);
const char *sccr_column_weight(int column);

/* The slurm.conf to read: given, else $SLURM_CONF, else the usual one if it is there, else NULL. */
const char *sccr_find_conf(const char *given);

/* Weights by column, and which of them are known. */
struct sccr_weights {
	double value[CCR_COLUMNS]; /* SITE's is 1 */
	bool known;		   /* from a slurm.conf, or given for one column at least */
	bool any;		   /* the slurm.conf has a line of them, or one was given */
	double max_age; /* PriorityMaxAge in seconds, Slurm's own where it is not there */
};

/* Where nobody gives weights: those with which the presets' own documents come out. */
double sccr_usual_weight(const char *preset, enum ccr_column column);

/*
 * Those of a slurm.conf (conf NULL: none) with `given` ("jobsize=16,age=1", NULL: none) over them.
 * CCR_EINVAL with a message for a name or number that is none; CCR_EIO for an unreadable file.
 */
int sccr_weights_read(struct sccr_weights *w, const char *conf, const char *given,
		      struct ccr_error *err);

#endif
