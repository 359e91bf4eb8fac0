/*
 * compat - the one place that knows how Slurm's versions differ (22.05.8 to 26.05)
 *
 * The table below has a line for each difference that our plugins meet, found by comparing every
 * release tag of each series: what the macro being 1 means, and since which release. Code outside
 * src/slurm/compat* never asks for a version; it uses the names that this header offers. What only
 * the priority plugin needs is in compat_priority.h, what only the select plugin needs in
 * compat_select.h.
 *
 * A plugin fits one micro release only (Slurm checks plugin_version, and layouts do move within a
 * series: job->part_prio became prio_mult in 24.11.7 and 25.05.1). fits.h checks that at run time.
 */
#ifndef CCR_SLURM_COMPAT_H
#define CCR_SLURM_COMPAT_H

#include "config.h" /* written by slurm_headers/generate.sh */

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <slurm/slurm_version.h>

/* True from that release on; usable in #if. */
#define CCR_SLURM_AT_LEAST(major, minor, micro)                                                    \
	(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, micro))

#if !CCR_SLURM_AT_LEAST(22, 5, 0)
#error "slurm-ccr needs Slurm 22.05 or later"
#endif

/* clang-format off */
/*      name                          since                                  what it means */
#define CCR_SLURM_INTERFACES          CCR_SLURM_AT_LEAST(23, 2, 0)   /* src/interfaces/ holds priority.h, gres.h, mcs.h ... */
#define CCR_SLURM_SITE_G              CCR_SLURM_AT_LEAST(23, 2, 0)   /* site_factor_g_init/fini, before: _plugin_init/fini */
#define CCR_SLURM_FACTORS_SPLIT       CCR_SLURM_AT_LEAST(23, 2, 0)   /* job->prio_factors has its own type, not sprio's row */
#define CCR_SLURM_FACTORS_LOCKED      CCR_SLURM_AT_LEAST(23, 2, 0)   /* the caller of get_priority_factors_list holds the locks */
#define CCR_SLURM_RECOVER             CCR_SLURM_AT_LEAST(23, 2, 0)   /* priority_p_recover is called once after a start */
#define CCR_SLURM_JOB_FEATURES_H      CCR_SLURM_AT_LEAST(23, 2, 0)   /* job_feature_t: src/common/job_features.h; before slurmctld.h */
#define CCR_SLURM_ACTIVE_NODES        CCR_SLURM_AT_LEAST(23, 2, 0)   /* active_node_record_count; node_record_count has gaps */
#define CCR_SLURM_RECONFIG_EXEC       CCR_SLURM_AT_LEAST(23, 11, 0)  /* a reconfigure is fini and a new process; init runs under
                                                                        slurmctld's write locks */
#define CCR_SLURM_THREAD_START        CCR_SLURM_AT_LEAST(23, 11, 6)  /* threads begin in priority_p_thread_start, not in init */
#define CCR_SLURM_COORD_LOCK_ARG      CCR_SLURM_AT_LEAST(23, 11, 6)  /* assoc_mgr_is_user_acct_coord(.., is_locked) */
#define CCR_SLURM_RECORDS_COMMON      CCR_SLURM_AT_LEAST(24, 5, 0)   /* src/common/{job,part}_record.h; before slurmctld.h */
#define CCR_SLURM_FACTORS_UNFILTERED  CCR_SLURM_AT_LEAST(24, 5, 0)   /* get_priority_factors_list(uid): the client filters */
#define CCR_SLURM_PRIO_NAMES          CCR_SLURM_AT_LEAST(24, 5, 0)   /* the array of priorities sits in a struct with names */
#define CCR_SLURM_QOS_RUN_SECS        CCR_SLURM_AT_LEAST(24, 5, 0)   /* a QOS counts run-seconds by account and user too */
#define CCR_SLURM_SITE_RECONFIG       (!CCR_SLURM_AT_LEAST(24, 5, 0)) /* site_factor_g_reconfig exists */
#define CCR_SLURM_QOS_LIST            CCR_SLURM_AT_LEAST(24, 11, 0)  /* a job can name several QOS: job->qos_list */
#define CCR_SLURM_PARTS_SORTED        CCR_SLURM_AT_LEAST(24, 11, 0)  /* slurmctld keeps job->part_ptr_list sorted */
#define CCR_SLURM_SPLIT_ADDS          CCR_SLURM_AT_LEAST(24, 11, 0)  /* job_array_split(.., list_add), job_state_set */
#define CCR_SLURM_STATE_SAVE_H        CCR_SLURM_AT_LEAST(24, 11, 0)  /* lock_state_files: src/common/state_save.h; before
                                                                        src/slurmctld/locks.h */
#define CCR_SLURM_PRIO_MULT           ((CCR_SLURM_AT_LEAST(24, 11, 7) && !CCR_SLURM_AT_LEAST(25, 5, 0)) || \
                                       CCR_SLURM_AT_LEAST(25, 5, 1)) /* that struct is job->prio_mult; before part_prio */
#define CCR_SLURM_FRONT_END           (!CCR_SLURM_AT_LEAST(25, 5, 0)) /* front-end nodes, and WAIT_FRONT_END, exist */
#define CCR_SLURM_SELECT_BITS         CCR_SLURM_AT_LEAST(25, 11, 0)  /* SELECT_MEMORY and so on; before CR_MEMORY */
#define CCR_SLURM_FINI_VOID           CCR_SLURM_AT_LEAST(25, 11, 0)  /* void fini(void); before int */
#define CCR_SLURM_FS_STORED           CCR_SLURM_AT_LEAST(25, 11, 0)  /* sshare shows usage->fs_factor with every algorithm; before
                                                                        it calls priority_p_calc_fs_factor without fair tree */
#define CCR_SLURM_ROW_STEP_ID         CCR_SLURM_AT_LEAST(26, 5, 0)   /* sprio's row names its job by step_id.job_id */
#define CCR_SLURM_NODE_SELECT_LOCK    CCR_SLURM_AT_LEAST(26, 5, 0)   /* slurmctld_lock_t has .select_node: always name the
                                                                        members when you write one down */
/* clang-format on */

#include "src/common/assoc_mgr.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/macros.h"
#include "src/common/node_conf.h"
#include "src/common/read_config.h"
#include "src/common/run_in_daemon.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/slurmdb_defs.h"
#include "src/common/uid.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#if CCR_SLURM_JOB_FEATURES_H
#include "src/common/job_features.h"
#endif
#if CCR_SLURM_RECORDS_COMMON
#include "src/common/job_record.h"
#include "src/common/part_record.h"
#endif
#if CCR_SLURM_STATE_SAVE_H
#include "src/common/state_save.h"
#endif
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"

/*
 * slurmctld's own data and functions. A plugin is opened by other programs as well (sshare from
 * 23.02, every client of the select plugins on 22.05), where these do not exist: as weak
 * references they are NULL there instead of keeping the .so from loading. Touch them only where
 * ccr_slurm_in_slurmctld() holds.
 */
#pragma weak accounting_enforce
#pragma weak acct_db_conn
#pragma weak backup_inx
#pragma weak cluster_cpus
#pragma weak job_list
#pragma weak last_job_update
#pragma weak last_node_update
#pragma weak last_part_update
#pragma weak node_record_count
#pragma weak node_record_table_ptr
#pragma weak part_list
#pragma weak slurmctld_config
#pragma weak slurmctld_diag_stats
#pragma weak slurmctld_tres_cnt
#pragma weak calc_job_billable_tres
#pragma weak find_part_record
#pragma weak lock_slurmctld
#pragma weak lock_state_files
#pragma weak unlock_slurmctld
#pragma weak unlock_state_files
#pragma weak validate_operator
#if CCR_SLURM_ACTIVE_NODES
#pragma weak active_node_record_count
#endif

/*
 * Bits of slurm_conf.select_type_param: memory is allocated; one task a core is the default; the
 * least loaded nodes first.
 */
#if CCR_SLURM_SELECT_BITS
#define CCR_SLURM_MEMORY_BIT   SELECT_MEMORY
#define CCR_SLURM_ONE_TASK_BIT SELECT_ONE_TASK_PER_CORE
#define CCR_SLURM_LLN_BIT      SELECT_LLN
#else
#define CCR_SLURM_MEMORY_BIT   CR_MEMORY
#define CCR_SLURM_ONE_TASK_BIT CR_ONE_TASK_PER_CORE
#define CCR_SLURM_LLN_BIT      CR_LLN
#endif

/* Marks what Slurm's loader looks up; all else stays hidden. */
#define CCR_SLURM_EXPORT __attribute__((visibility("default")))

/* What every plugin must define; the version is SLURM_VERSION_NUMBER. */
extern CCR_SLURM_EXPORT const char plugin_name[];
extern CCR_SLURM_EXPORT const char plugin_type[];
extern CCR_SLURM_EXPORT const uint32_t plugin_version;

/* `CCR_SLURM_FINI fini(void) { ...; return CCR_SLURM_FINI_DONE; }` */
#if CCR_SLURM_FINI_VOID
#define CCR_SLURM_FINI void
#define CCR_SLURM_FINI_DONE
#else
#define CCR_SLURM_FINI	    int
#define CCR_SLURM_FINI_DONE SLURM_SUCCESS
#endif

/* What Slurm calls List and ListIterator up to 24.05, list_t * and list_itr_t * from 24.11. */
typedef struct xlist ccr_slurm_list_t;
typedef struct listIterator ccr_slurm_list_itr_t;

/* job->details: struct job_details up to 22.05, job_details_t from 23.02. */
typedef __typeof__(*((job_record_t *)0)->details) ccr_slurm_details_t;

/* True in slurmctld itself, false in any other program that opened the plugin. */
static inline bool ccr_slurm_in_slurmctld(void)
{
	return running_in_slurmctld();
}

/* The nodes that exist. slurmctld's node lock held. */
static inline uint32_t ccr_slurm_node_count(void)
{
#if CCR_SLURM_ACTIVE_NODES
	return active_node_record_count > 0 ? (uint32_t)active_node_record_count : 0;
#else
	return node_record_count > 0 ? (uint32_t)node_record_count : 0;
#endif
}

/* The release that the headers are of, e.g. "24.11.5". */
const char *ccr_slurm_built_for(void);

/*
 * Starts a joinable thread named `name` (15 characters are kept) with every signal blocked, so
 * that slurmctld's handlers keep running in slurmctld's threads. Not slurm_thread_create(): that
 * ends the daemon where no thread can be had, and its arguments changed in 26.05.
 * Returns 0 or an errno value; *id is set only with 0. End it with pthread_join.
 */
int ccr_slurm_thread_start(pthread_t *id, const char *name, void *(*fn)(void *), void *arg);

#endif
