/* classic - see classic.h */
#include "priority/classic.h"

#include "core/fairshare.h"

static int add_norm(void *x, void *arg)
{
	const slurmdb_assoc_rec_t *sibling = x;
	long double *sum = arg;

	if (sibling->usage && sibling->shares_raw != SLURMDB_FS_USE_PARENT)
		*sum += sibling->usage->usage_norm;
	return 0;
}

static long double oblivious(const slurmdb_assoc_usage_t *own, const slurmdb_assoc_usage_t *parent)
{
	long double siblings = 0;

	if (parent->children_list)
		list_for_each(parent->children_list, add_norm, &siblings);
	return ccr_usage_efctv_oblivious(own->usage_norm, own->shares_norm, parent->usage_efctv,
					 parent->shares_norm, siblings);
}

/*
 * Kept in the association, for all of its jobs and, from 25.11, for sshare. A user with
 * Fairshare=parent has the factor of the ancestor whose shares it lives on.
 */
static void set_factor(slurmdb_assoc_rec_t *assoc, uint16_t dampening)
{
	const slurmdb_assoc_rec_t *from = assoc;

	if (assoc->shares_raw == SLURMDB_FS_USE_PARENT && assoc->usage->fs_assoc_ptr)
		from = assoc->usage->fs_assoc_ptr;
	assoc->usage->fs_factor =
	    from->usage && !fuzzy_equal(from->usage->usage_efctv, NO_VAL)
		? ccr_fs_factor(from->usage->usage_efctv, from->usage->shares_norm, dampening)
		: 0;
}

void ccr_assoc_usage_set(slurmdb_assoc_rec_t *assoc, const struct ccr_fs_rule *rule)
{
	const slurmdb_assoc_rec_t *root = assoc_mgr_root_assoc, *parent;
	slurmdb_assoc_usage_t *u = assoc ? assoc->usage : NULL;

	if (!u || !root || !root->usage)
		return;
	parent = u->fs_assoc_ptr;
	u->usage_norm = ccr_usage_norm(u->usage_raw, root->usage->usage_raw);
	if (!parent || !parent->usage || parent == root)
		u->usage_efctv = u->usage_norm;
	else if (assoc->shares_raw == SLURMDB_FS_USE_PARENT)
		u->usage_efctv = parent->usage->usage_efctv;
	else if (rule->depth_oblivious)
		u->usage_efctv = oblivious(u, parent->usage);
	else
		u->usage_efctv = ccr_usage_efctv(u->usage_norm, parent->usage->usage_efctv,
						 assoc->shares_raw, u->level_shares);
	if (!rule->fair_tree)
		set_factor(assoc, rule->dampening);
}

/* What is done to each association on the way down. */
typedef void (*visit_fn)(slurmdb_assoc_rec_t *assoc, const void *arg);

/*
 * Parents before children. With an iterator, as list_for_each() would hold the list's own lock
 * while the visit looks at all siblings.
 */
static void walk(const slurmdb_assoc_rec_t *of, visit_fn visit, const void *arg)
{
	ccr_slurm_list_itr_t *itr;
	slurmdb_assoc_rec_t *assoc;

	if (!of || !of->usage || !of->usage->children_list)
		return;
	itr = list_iterator_create(of->usage->children_list);
	while ((assoc = list_next(itr))) {
		if (assoc->usage)
			visit(assoc, arg);
		if (!assoc->user)
			walk(assoc, visit, arg);
	}
	list_iterator_destroy(itr);
}

static void update(slurmdb_assoc_rec_t *assoc, const void *rule)
{
	if (assoc->user)
		assoc->usage->usage_efctv = (long double)NO_VAL;
	else
		ccr_assoc_usage_set(assoc, rule);
}

void ccr_classic_update(const struct ccr_fs_rule *rule)
{
	walk(assoc_mgr_root_assoc, update, rule);
}

double ccr_fairshare_of(slurmdb_assoc_rec_t *assoc, const struct ccr_fs_rule *rule)
{
	if (!assoc || !assoc->usage)
		return 0;
	if (!rule->fair_tree && fuzzy_equal(assoc->usage->usage_efctv, NO_VAL))
		ccr_assoc_usage_set(assoc, rule);
	return assoc->usage->fs_factor;
}

static void normalize(slurmdb_assoc_rec_t *assoc, const void *arg)
{
	(void)arg;
	assoc_mgr_normalize_assoc_shares(assoc);
}

void ccr_shares_normalize(void)
{
	walk(assoc_mgr_root_assoc, normalize, NULL);
}
