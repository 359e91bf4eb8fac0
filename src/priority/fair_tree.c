/* fair_tree - see fair_tree.h */
#include "priority/fair_tree.h"

#include <stdlib.h>
#include "core/error.h"

/* Filling rows, depth first: parents before children, children in Slurm's order. */
struct fill {
	struct ccr_fair_tree *ft;
	size_t n;
	uint32_t parent;
};

static bool make_room(struct ccr_fair_tree *ft, size_t n)
{
	struct ccr_ft_assoc *row;
	slurmdb_assoc_rec_t **rec;

	if (n <= ft->room)
		return true;
	row = realloc(ft->row, n * sizeof(*row));
	if (!row)
		return false;
	ft->row = row;
	rec = realloc(ft->rec, n * sizeof(*rec));
	if (!rec)
		return false;
	ft->rec = rec;
	ft->room = n;
	return true;
}

static int add(void *x, void *arg)
{
	slurmdb_assoc_rec_t *assoc = x;
	const slurmdb_assoc_rec_t *fs_parent = assoc->usage->fs_assoc_ptr;
	struct fill *f = arg;
	uint32_t outer = f->parent;

	if (f->n == f->ft->room)
		return -1;
	f->ft->rec[f->n] = assoc;
	f->ft->row[f->n] = (struct ccr_ft_assoc){
	    .parent = outer,
	    .user = assoc->user != NULL,
	    .use_parent = assoc->shares_raw == SLURMDB_FS_USE_PARENT,
	    .shares_norm = assoc->usage->shares_norm,
	    .usage_raw = assoc->usage->usage_raw,
	    .fs_parent_usage = fs_parent && fs_parent->usage ? fs_parent->usage->usage_raw : 0,
	};
	f->parent = (uint32_t)f->n++;
	if (assoc->usage->children_list)
		list_for_each(assoc->usage->children_list, add, f);
	f->parent = outer;
	return 0;
}

bool ccr_fair_tree_update(struct ccr_fair_tree *ft)
{
	slurmdb_assoc_rec_t *root = assoc_mgr_root_assoc;
	struct fill f = {.ft = ft, .parent = CCR_FT_ROOT};

	if (!root || !root->usage || !root->usage->children_list || !assoc_mgr_assoc_list)
		return true;
	if (!make_room(ft, (size_t)list_count(assoc_mgr_assoc_list) + 1))
		return false;
	root->usage->level_fs = CCR_FT_NO_LEVEL;
	list_for_each(root->usage->children_list, add, &f);
	if (ccr_fairtree_rank(&ft->core, ft->row, f.n, root->usage->usage_raw, g_user_assoc_count))
		return false;
	for (size_t i = 0; i < f.n; i++) {
		slurmdb_assoc_usage_t *u = ft->rec[i]->usage;

		u->usage_efctv = ft->row[i].usage_efctv;
		u->usage_norm = ft->row[i].usage_norm;
		u->level_fs = ft->row[i].level_fs;
		if (ft->row[i].user)
			u->fs_factor = ft->row[i].fs_factor;
	}
	return true;
}

void ccr_fair_tree_free(struct ccr_fair_tree *ft)
{
	ccr_fairtree_free(&ft->core);
	free(ft->row);
	free(ft->rec);
	ft->row = NULL;
	ft->rec = NULL;
	ft->room = 0;
}
