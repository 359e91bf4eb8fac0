/* fairtree - see fairtree.h */
#include "core/fairtree.h"

#include <math.h>
#include <stdlib.h>
#include "core/error.h"
#include "core/fairshare.h"

/* Where the ranking stands. */
struct walk {
	const struct ccr_fairtree *ft;
	const struct ccr_ft_assoc *base;
	uint32_t users;
	uint32_t rank; /* given to the next user that ties with the last one */
	uint32_t next; /* given to the next user that does not */
};

static int make_room(struct ccr_fairtree *ft, size_t n)
{
	struct ccr_ft_assoc **order;
	uint32_t *first;

	if (n <= ft->room)
		return CCR_OK;
	order = realloc(ft->order, n * sizeof(*order));
	if (!order)
		return CCR_ENOMEM;
	ft->order = order;
	/* One more: the root's children have a start as well; and one for the end. */
	first = realloc(ft->first, (n + 2) * sizeof(*first));
	if (!first)
		return CCR_ENOMEM;
	ft->first = first;
	ft->room = n;
	return CCR_OK;
}

void ccr_fairtree_free(struct ccr_fairtree *ft)
{
	free(ft->order);
	free(ft->first);
	ft->order = NULL;
	ft->first = NULL;
	ft->room = 0;
}

/* Slot of a parent in first[]: the root is 0. */
static size_t slot(uint32_t parent)
{
	return parent == CCR_FT_ROOT ? 0 : (size_t)parent + 1;
}

static void sort_by_parent(struct ccr_fairtree *ft, struct ccr_ft_assoc *assoc, size_t n)
{
	uint32_t at = 0;

	for (size_t i = 0; i <= n + 1; i++)
		ft->first[i] = 0;
	for (size_t i = 0; i < n; i++)
		ft->first[slot(assoc[i].parent)]++;
	for (size_t i = 0; i <= n; i++) {
		uint32_t count = ft->first[i];

		ft->first[i] = at;
		at += count;
	}
	/* Filling moves each start to the start of the next slot: moved back below. */
	for (size_t i = 0; i < n; i++)
		ft->order[ft->first[slot(assoc[i].parent)]++] = &assoc[i];
	for (size_t i = n + 1; i > 0; i--)
		ft->first[i] = ft->first[i - 1];
	ft->first[0] = 0;
}

static void level(struct ccr_ft_assoc *a, long double root_usage)
{
	a->usage_efctv = a->fs_parent_usage ? a->usage_raw / a->fs_parent_usage : 0;
	a->usage_norm = ccr_usage_norm(a->usage_raw, root_usage);
	a->fs_factor = 0;
	if (a->use_parent)
		a->level_fs = a->user ? (long double)INFINITY : CCR_FT_NO_LEVEL;
	else if (!a->shares_norm)
		a->level_fs = 0;
	else /* no usage: infinitely under-served */
		a->level_fs = a->shares_norm / a->usage_efctv;
}

/* Best served last; at the same level users before accounts. */
static int compare(const void *x, const void *y)
{
	const struct ccr_ft_assoc *a = *(struct ccr_ft_assoc *const *)x;
	const struct ccr_ft_assoc *b = *(struct ccr_ft_assoc *const *)y;

	if (a->level_fs != b->level_fs)
		return a->level_fs < b->level_fs ? 1 : -1;
	return (int)b->user - (int)a->user;
}

/* Ranks what is below one account; tied: the account tied with what was ranked before it. */
static void rank_children(struct walk *w, size_t of, bool tied)
{
	struct ccr_ft_assoc **child = w->ft->order + w->ft->first[of];
	size_t n = w->ft->first[of + 1] - w->ft->first[of];
	long double last = CCR_FT_NO_LEVEL;

	qsort(child, n, sizeof(*child), compare);
	for (size_t i = 0; i < n; i++) {
		if (i || !tied)
			tied = child[i]->level_fs == last;
		if (child[i]->user) {
			if (!tied)
				w->rank = w->next;
			child[i]->fs_factor = w->users ? w->rank / (double)w->users : 0;
			w->next--;
		} else {
			rank_children(w, (size_t)(child[i] - w->base) + 1, tied);
		}
		last = child[i]->level_fs;
	}
}

int ccr_fairtree_rank(struct ccr_fairtree *ft, struct ccr_ft_assoc *assoc, size_t n,
		      long double root_usage, uint32_t users)
{
	struct walk w = {.ft = ft, .base = assoc, .users = users, .rank = users, .next = users};

	for (size_t i = 0; i < n; i++)
		if (assoc[i].parent != CCR_FT_ROOT && assoc[i].parent >= i)
			return CCR_EINVAL;
	if (!n)
		return CCR_OK;
	if (make_room(ft, n))
		return CCR_ENOMEM;
	sort_by_parent(ft, assoc, n);
	for (size_t i = 0; i < n; i++)
		level(&assoc[i], root_usage);
	rank_children(&w, 0, false);
	return CCR_OK;
}
