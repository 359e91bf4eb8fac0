/*
 * sim_nodeset - NodeSet lines of slurm.conf, and the list of nodes that a partition has
 */
#ifndef SCCR_SIM_NODESET_H
#define SCCR_SIM_NODESET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "sccr/sim_names.h"

struct sim_nodesets {
	struct sim_nodeset {
		char *name, *feature, *nodes; /* feature, nodes: as written, or empty */
	} * set;
	uint32_t sets;
	struct sim_names *features; /* lists of them, as nodes have them */
	uint32_t *list;		    /* by node: index in features */
	uint32_t nodes, room;
};

/* -1: out of memory. Freed by sim_nodesets_free, then too. */
int sim_nodesets_init(struct sim_nodesets *s);
void sim_nodesets_free(struct sim_nodesets *s);

/* One node more, with its Feature= as written. -1: out of memory. */
int sim_nodesets_node(struct sim_nodesets *s, const char *features);

/* The nodes with that feature, those of the list, or both. -1: out of memory. */
int sim_nodesets_add(struct sim_nodesets *s, const char *name, const char *feature,
		     const char *nodes);

bool sim_nodesets_known(const struct sim_nodesets *s, const char *name);

/*
 * Sets has[i] for each node i of a list: node names (by index in names) and their ranges, node sets
 * and ALL, parted by commas. what ("partition p") begins the message of CCR_EINVAL.
 */
int sim_nodesets_mark(const struct sim_nodesets *s, const struct sim_names *names, const char *list,
		      const char *what, bool *has, struct ccr_error *err);

#endif
