/*
 * plugin - select/cons_tres with a gate in front of it
 *
 * Everything is the stock plugin's (inner.c); the entry points here also keep the plan in step or
 * let the gate decide. slurmctld's clients of some versions load select plugins as well: there the
 * stock plugin is alone.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "select/gate.h"
#include "select/inner.h"
#include "select/report.h"
#include "slurm/fits.h"

CCR_SLURM_EXPORT const char plugin_name[];
CCR_SLURM_EXPORT const char plugin_type[];
CCR_SLURM_EXPORT const uint32_t plugin_version;
CCR_SLURM_EXPORT const uint32_t plugin_id;
const char plugin_name[] = "Select cons_tres behind the slurm-ccr gate";
const char plugin_type[] = "select/cons_tres";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
const uint32_t plugin_id = 109; /* SELECT_PLUGIN_CONS_TRES: Slurm's own number for the type */

static struct ccr_slurm_fits fits =
    CCR_SLURM_FITS_INIT("select/cons_tres (slurm-ccr)", "the stock plugin decides alone");
static atomic_bool gated; /* in slurmctld, and its records are those of our headers */

/*
 * Some versions load every select plugin there is, whatever SelectType says: of those one is asked.
 * (That of a Cray may hand everything on to this one.)
 */
static bool in_use(void)
{
	const char *type = slurm_conf.select_type;

	return !type || !xstrcmp(type, plugin_type) || !strncmp(type, "select/cray", 11);
}

CCR_SLURM_EXPORT int init(void);
int init(void)
{
	Dl_info self;

	if (!ccr_inner_open())
		return SLURM_ERROR;
	if (!ccr_slurm_in_slurmctld())
		return SLURM_SUCCESS;
	/* A thread may outlive fini: the code must not be unmapped. */
	if (dladdr((void *)init, &self) && self.dli_fname)
		(void)dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (!in_use()) {
		info("select/cons_tres: slurm-ccr " CCR_VERSION " is not in use: SelectType=%s",
		     slurm_conf.select_type);
		return SLURM_SUCCESS;
	}
	info("select/cons_tres: slurm-ccr " CCR_VERSION " for Slurm %s in front of %s",
	     ccr_slurm_built_for(), ccr_inner_path());
	gated = ccr_slurm_fits_start(&fits);
	if (gated)
		ccr_gate_configure();
	return SLURM_SUCCESS;
}

CCR_SLURM_EXPORT CCR_SLURM_FINI fini(void);
CCR_SLURM_FINI fini(void)
{
	if (gated) {
		gated = false;
		ccr_report_end();
		ccr_gate_end();
	}
	ccr_inner_close();
	return CCR_SLURM_FINI_DONE;
}

CCR_SLURM_EXPORT int select_p_job_test(CCR_SLURM_TEST_PARAMS);
int select_p_job_test(CCR_SLURM_TEST_PARAMS)
{
	struct ccr_slurm_test t = {
		.job = job,
		.nodes = nodes,
		.min_nodes = min_nodes,
		.max_nodes = max_nodes,
		.req_nodes = req_nodes,
		.mode = mode,
		.candidates = candidates,
		.preempted = preempted,
		.exclude = exclude,
#if CCR_SLURM_WILL_RUN_DATA
		.will_run = will_run,
#endif
	};
	int rc;

	if (!gated || !ccr_slurm_fits_job(&fits, job))
		return ccr_inner_test(&t);
	rc = ccr_gate_test(&t);
	ccr_report_wake(ccr_caller() != CCR_OTHER);
	return rc;
}

CCR_SLURM_EXPORT int select_p_job_begin(job_record_t *job);
int select_p_job_begin(job_record_t *job)
{
	int rc = ccr_inner_job_begin(job);

	if (gated)
		ccr_gate_begun(job, rc == SLURM_SUCCESS);
	return rc;
}

/* The rest changes what the plan was loaded from. */
static int changed(int rc)
{
	if (gated)
		ccr_gate_stale();
	return rc;
}

CCR_SLURM_EXPORT int select_p_job_fini(job_record_t *job);
int select_p_job_fini(job_record_t *job)
{
	return changed(ccr_inner_job_fini(job));
}

CCR_SLURM_EXPORT int select_p_job_expand(job_record_t *from, job_record_t *to);
int select_p_job_expand(job_record_t *from, job_record_t *to)
{
	return changed(ccr_inner_job_expand(from, to));
}

CCR_SLURM_EXPORT int select_p_job_resized(job_record_t *job, node_record_t *node);
int select_p_job_resized(job_record_t *job, node_record_t *node)
{
	return changed(ccr_inner_job_resized(job, node));
}

CCR_SLURM_EXPORT int select_p_job_suspend(job_record_t *job, bool indefinitely);
int select_p_job_suspend(job_record_t *job, bool indefinitely)
{
	return changed(ccr_inner_job_suspend(job, indefinitely));
}

CCR_SLURM_EXPORT int select_p_job_resume(job_record_t *job, bool indefinitely);
int select_p_job_resume(job_record_t *job, bool indefinitely)
{
	return changed(ccr_inner_job_resume(job, indefinitely));
}

CCR_SLURM_EXPORT int select_p_node_init(void);
int select_p_node_init(void)
{
	return changed(ccr_inner_node_init());
}

CCR_SLURM_EXPORT int select_p_reconfigure(void);
int select_p_reconfigure(void)
{
	int rc = ccr_inner_reconfigure();

	if (gated)
		ccr_gate_configure();
	return changed(rc);
}
