/* See compat_rows.h. */
#include "slurm/compat_rows.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SIZE (64 * 1024) /* below what malloc would give a mapping of its own */

struct ccr_rows_page {
	size_t rows; /* that are alive, and one more while it is filled */
	size_t used; /* of bytes */
	alignas(max_align_t) char bytes[PAGE_SIZE - 64];
};

struct row {
	priority_factors_object_t row; /* first: the list's element */
#if CCR_SLURM_FACTORS_SPLIT
	ccr_slurm_factors_t factors;
#endif
	struct ccr_rows_page *page;
};

static void release(struct ccr_rows_page *page)
{
	if (page && !--page->rows)
		free(page);
}

static void free_row(void *p)
{
	release(((struct row *)p)->page);
}

void ccr_rows_begin(struct ccr_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	rows->list = list_create(free_row);
}

ccr_slurm_list_t *ccr_rows_end(struct ccr_rows *rows)
{
	ccr_slurm_list_t *list = rows->list;

	if (!list_count(list))
		FREE_NULL_LIST(list);
	release(rows->page);
	rows->page = NULL;
	rows->list = NULL;
	return list;
}

static size_t rounded(size_t n)
{
	return (n + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}

/* Room in the page, which ccr_rows_add() has seen to. */
static void *take(struct ccr_rows *rows, size_t size)
{
	char *at = rows->page->bytes + rows->page->used;

	rows->page->used += rounded(size);
	return at;
}

static const char *put_text(struct ccr_rows *rows, const char *s)
{
	size_t n = s ? strlen(s) + 1 : 0;
	unsigned known = MIN(rows->n_texts, CCR_ROWS_RECENT);
	char *to;

	if (!s)
		return NULL;
	for (unsigned i = 0; i < known; i++) {
		if (!strcmp(rows->text[i], s))
			return rows->text[i];
	}
	to = take(rows, n);
	memcpy(to, s, n);
	rows->text[rows->n_texts++ % CCR_ROWS_RECENT] = to;
	return to;
}

/* A copy of n numbers, the one that was made last if it is the same. */
static double *put_numbers(struct ccr_rows *rows, const double **last, uint32_t *n_last,
			   const double *from, uint32_t n)
{
	size_t size = n * sizeof(*from);

	if (!from || !n)
		return NULL;
	if (!*last || *n_last != n || memcmp(*last, from, size) != 0) {
		double *to = take(rows, size);

		memcpy(to, from, size);
		*last = to;
		*n_last = n;
	}
	return (double *)*last;
}

static size_t room_of(const char *s)
{
	return s ? rounded(strlen(s) + 1) : 0;
}

/* A page with room for `size` bytes more. */
static bool make_room(struct ccr_rows *rows, size_t size)
{
	struct ccr_rows_page *page = rows->page;

	if (page && page->used + size <= sizeof(page->bytes))
		return true;
	if (size > sizeof(page->bytes)) /* thousands of TRES */
		return false;
	release(page);
	rows->n_texts = 0;
	rows->points = rows->weights = NULL;
	rows->page = page = malloc(sizeof(*page));
	if (!page)
		return false;
	page->rows = 1;
	page->used = 0;
	return true;
}

static uint32_t last_with_points(const ccr_slurm_factors_t *f)
{
	uint32_t n = f->priority_tres && f->tres_weights ? f->tres_cnt : 0;

	while (n && !f->priority_tres[n - 1])
		n--;
	return n;
}

bool ccr_rows_add(struct ccr_rows *rows, const job_record_t *job, const part_record_t *part,
		  const slurmdb_qos_rec_t *qos, const ccr_slurm_factors_t *factors)
{
	bool by_hand = job->direct_set_prio || !factors;
	const char *partition = part ? part->name : job->partition;
	/* what the version's rows have no place for is not touched: that is a wait for memory */
	const char *account = CCR_SLURM_FACTORS_SPLIT ? job->account : NULL;
	const char *name = CCR_SLURM_FACTORS_SPLIT && qos ? qos->name : NULL;
	uint32_t n = by_hand ? 0 : last_with_points(factors);
	ccr_slurm_factors_t *to;
	struct row *r;

	if (by_hand && !job->priority)
		return true;
	if (!make_room(rows, rounded(sizeof(*r)) + 2 * rounded(n * sizeof(double)) +
				 room_of(partition) + room_of(account) + room_of(name)))
		return false;
	r = take(rows, sizeof(*r));
	memset(r, 0, sizeof(*r));
	if (by_hand) {
		r->row.direct_prio = job->priority;
	} else {
#if CCR_SLURM_FACTORS_SPLIT
		to = r->row.prio_factors = &r->factors;
#else
		to = &r->row;
#endif
		*to = *factors;
		to->tres_cnt = n;
		to->priority_tres =
		    put_numbers(rows, &rows->points, &rows->n_points, factors->priority_tres, n);
		to->tres_weights =
		    put_numbers(rows, &rows->weights, &rows->n_weights, factors->tres_weights, n);
		to->tres_names = NULL; /* slurmctld packs its own */
	}
#if CCR_SLURM_ROW_STEP_ID
	r->row.step_id = job->step_id;
#else
	r->row.job_id = job->job_id;
#endif
	r->row.user_id = job->user_id;
	r->row.partition = (char *)put_text(rows, partition);
#if CCR_SLURM_FACTORS_SPLIT
	r->row.account = (char *)put_text(rows, account);
	r->row.qos = (char *)put_text(rows, name);
#endif
	r->page = rows->page;
	rows->page->rows++;
	list_append(rows->list, r);
	return true;
}
