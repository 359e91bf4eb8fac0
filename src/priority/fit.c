/* See fit.h. */
#include "priority/fit.h"

#include "slurm/fits.h"

static struct ccr_slurm_fits fits =
    CCR_SLURM_FITS_INIT("priority/ccr", "Build it from the source of this very Slurm; until then "
					"it computes no priorities");

bool ccr_fit_start(void)
{
	return ccr_slurm_fits_start(&fits);
}

bool ccr_fit_job(const job_record_t *job)
{
	return ccr_slurm_fits_job(&fits, job);
}

bool ccr_fit_jobs(void)
{
	slurmctld_lock_t r = {.job = READ_LOCK, .part = READ_LOCK};
	job_record_t *job;
	bool ok;

	lock_slurmctld(r);
	job = list_peek(job_list);
	ok = job ? ccr_fit_job(job) : ccr_fit();
	unlock_slurmctld(r);
	return ok;
}

bool ccr_fit(void)
{
	return ccr_slurm_fits(&fits);
}
