/*
 * inner - the stock select/cons_tres behind ours, and calls into it
 *
 * It is the first select_cons_tres.so of PluginDir's folders that is not this very file. Its
 * symbols are looked up one by one; one that this Slurm does not have stays NULL and is never
 * called, as Slurm does not look it up in ours either.
 */
#ifndef CCR_SELECT_INNER_H
#define CCR_SELECT_INNER_H

#include "slurm/compat_select.h"

/* Opens it and calls its init(). False after an error in the log: without it nothing works. */
bool ccr_inner_open(void);

/* Calls its fini(). It stays mapped: its code may still be running in another thread. */
void ccr_inner_close(void);

/* Where it was found, for the log. */
const char *ccr_inner_path(void);

/* select_p_job_test of the stock plugin. */
int ccr_inner_test(const struct ccr_slurm_test *t);

int ccr_inner_node_init(void);
int ccr_inner_reconfigure(void);
int ccr_inner_job_begin(job_record_t *job);
int ccr_inner_job_fini(job_record_t *job);
int ccr_inner_job_expand(job_record_t *from, job_record_t *to);
int ccr_inner_job_resized(job_record_t *job, node_record_t *node);
int ccr_inner_job_suspend(job_record_t *job, bool indefinitely);
int ccr_inner_job_resume(job_record_t *job, bool indefinitely);

#endif
