/*
 * explain_nodes - the nodes of partitions, bookings and reservations, and what state they are in
 */
#ifndef SCCR_EXPLAIN_NODES_H
#define SCCR_EXPLAIN_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "core/error.h"
#include "sccr/clients.h"

/* A set of node names. Begin with {NULL}. */
struct explain_nodes {
	struct explain_node *list;
};

/* Adds the nodes of Slurm's host expression. CCR_ENOMEM, or CCR_EINVAL where it is none. */
int explain_nodes_add(struct explain_nodes *set, const char *hosts, struct ccr_error *err);
/* Is one of the hosts in the set? One that cannot be read might be. */
bool explain_nodes_share(const struct explain_nodes *set, const char *hosts);
void explain_nodes_free(struct explain_nodes *set);

/*
 * Which nodes and time limit each partition has, as sinfo tells it: three fields a row. No rows
 * where it does not answer.
 */
void explain_parts_read(struct client_rows *parts);
/* The nodes of a partition; NULL where that is not known. */
const char *explain_parts_find(const struct client_rows *parts, const char *partition);
/* Its time limit, as sinfo writes it; NULL where that is not known. */
const char *explain_parts_limit(const struct client_rows *parts, const char *partition);

/* The states of nodes: how many are up (idle, in use or booked), and the others. */
struct explain_states {
	size_t up, not_up;
	char first_not_up[64], its_state[32]; /* "" if there is none */
};

/* Asks sinfo; all 0 where it does not answer. */
void explain_states_read(struct explain_states *s, const char *hosts);
/* The same of rows of node and state, those of a node one after another. */
void explain_states_of(struct explain_states *s, const struct client_rows *rows);

/* Reservations, as scontrol shows them: one a row. No rows where it does not answer. */
void explain_reservations_read(struct client_rows *rows);

struct explain_reservation {
	char name[64], start[24], end[24];
};

/*
 * One of them that holds nodes of the set and ends from..to; false if there is none, and out->name
 * is "" then. In slurmctld's order.
 */
bool explain_reservations_find(const struct client_rows *rows, const struct explain_nodes *set,
			       time_t from, time_t to, struct explain_reservation *out);

#endif
