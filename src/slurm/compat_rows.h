/*
 * compat_rows - sprio's list: a row for each job and partition, as slurmctld sends it
 *
 * A long queue is a long list, and memory that is asked for row by row, with copies of the same
 * names and weights in each, is a third of what sprio costs slurmctld. Rows lie in pages, and the
 * rows of a page share what they have in common. A page is freed with its last row: slurmctld frees
 * nothing of a row but through the list.
 */
#ifndef CCR_SLURM_COMPAT_ROWS_H
#define CCR_SLURM_COMPAT_ROWS_H

#include "slurm/compat_priority.h"

struct ccr_rows_page;

#define CCR_ROWS_RECENT 8

/* A list in the making. */
struct ccr_rows {
	ccr_slurm_list_t *list;
	struct ccr_rows_page *page; /* the one that is filled */
	/* what is in it already and likely to be wanted again */
	const char *text[CCR_ROWS_RECENT];
	unsigned n_texts;
	const double *points, *weights;
	uint32_t n_points, n_weights;
};

void ccr_rows_begin(struct ccr_rows *rows);

/*
 * Appends a copy: the job in that partition under that QOS (NULL: none) with those factors. A job
 * whose priority was set by hand, or one without factors, gets its priority alone; a held one
 * among these (priority 0) gets no row, as slurmctld cannot send it. TRES past the last that has
 * points are left out: sprio shows none without. False: out of memory, there is no row.
 */
bool ccr_rows_add(struct ccr_rows *rows, const job_record_t *job, const part_record_t *part,
		  const slurmdb_qos_rec_t *qos, const ccr_slurm_factors_t *factors);

/* The list, which owns all that is in it: what get_priority_factors_list returns. NULL: no row. */
ccr_slurm_list_t *ccr_rows_end(struct ccr_rows *rows);

#endif
