/*
 * settings - what slurm.conf says that the score depends on, copied
 *
 * slurm_conf may be read only under slurmctld's config lock, scores are computed without it. The
 * copy is taken at init and whenever Slurm reconfigures.
 */
#ifndef CCR_PRIORITY_SETTINGS_H
#define CCR_PRIORITY_SETTINGS_H

#include "core/policy.h"
#include "priority/classic.h"
#include "priority/tres_points.h"
#include "slurm/compat_priority.h"

struct ccr_settings {
	double weight[CCR_COLUMNS]; /* PriorityWeight*; 1 for SITE */
	double *weight_tres;	    /* PriorityWeightTRES by TRES index, NULL if there is none */
	struct ccr_tres_rule tres;  /* the same, for tres_points.h */
	uint32_t flags;		    /* PriorityFlags */
	uint32_t max_age;	    /* PriorityMaxAge, s */
	uint32_t period;	    /* s between two cycles */
	uint32_t tick;	       /* s between two looks at running jobs for the ledger, <= period */
	double half_life;      /* PriorityDecayHalfLife, s; 0: no decay */
	uint16_t reset_period; /* PriorityUsageResetPeriod */
	struct ccr_fs_rule fs;
	bool favor_small;
	bool with_dbd;
	mode_t ledger_mode; /* nobody else reads it where PrivateData hides what is in it */
	bool has_site_plugin;
	bool debug;	 /* DebugFlags=Priority */
	char *conf_path; /* the policy file */
	char *state_dir; /* StateSaveLocation */
	uid_t slurm_uid; /* SlurmUser */
};

/* Fills *s anew. slurm_conf must be readable: in init, or under config R. False: out of memory. */
bool ccr_settings_read(struct ccr_settings *s);
void ccr_settings_free(struct ccr_settings *s);
/* A copy that the caller frees with ccr_settings_free(); false: out of memory. */
bool ccr_settings_copy(struct ccr_settings *to, const struct ccr_settings *from);

#endif
