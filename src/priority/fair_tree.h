/*
 * fair_tree - Slurm's accounts and users through core's Fair Tree, and back
 */
#ifndef CCR_PRIORITY_FAIR_TREE_H
#define CCR_PRIORITY_FAIR_TREE_H

#include "core/fairtree.h"
#include "slurm/compat_priority.h"

/* Room that is kept between cycles. Zero to start with. */
struct ccr_fair_tree {
	struct ccr_fairtree core;
	struct ccr_ft_assoc *row;
	slurmdb_assoc_rec_t **rec; /* the association of each row */
	size_t room;
};

/*
 * Sets usage_efctv, usage_norm and level_fs of every association below the root and fs_factor of
 * every user. assoc W held. False: out of memory, everything stays as it was.
 */
bool ccr_fair_tree_update(struct ccr_fair_tree *ft);

void ccr_fair_tree_free(struct ccr_fair_tree *ft);

#endif
