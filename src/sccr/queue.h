/*
 * queue - the queue as squeue and sprio show it to whoever asks
 */
#ifndef SCCR_QUEUE_H
#define SCCR_QUEUE_H

#include <stdbool.h>
#include <time.h>

#include "core/policy.h"
#include "sccr/clients.h"

/* A job's columns from sprio, in one partition. */
struct queue_terms {
	bool found;
	bool by_hand; /* the priority was set directly: the policy has no say, no column counts */
	double points[CCR_COLUMNS], factor[CCR_COLUMNS];
	double nice, priority;
	char tres[256];
};

/* A job in one partition; strings point into the rows. "" for what is not there. */
struct queue_job {
	const char *id;	    /* as squeue has it: 12, 12_3, 12_[4-9], 12+1 */
	const char *number; /* the job id that sprio knows */
	const char *state, *partition, *user, *account, *qos, *limit, *gres, *start, *sched_nodes;
	const char *end, *nodes, *submit, *reason, *name, *resv;
	const char *req_nodes;	/* that it names (-w) */
	const char *dependency; /* what is left of it */
	bool several;		/* it is in several partitions, a row for each */
	double priority;	/* in this partition, where sprio tells it; else squeue's */
	double shown;		/* squeue's, of all its partitions */
	long n_nodes, n_cpus;
	struct queue_terms terms;
};

struct queue {
	struct client_rows rows;
	struct queue_job *job;
	size_t n;
	char *ids; /* of the records of more than one task */
	double weight[CCR_COLUMNS];
	char tres_weights[256]; /* "cpu=1000,gres/gpu=3000" */
	bool partial;		/* PrivateData hides jobs of others */
	bool no_terms; /* PriorityType=priority/basic: there is nothing that sprio could show */
};

/*
 * All jobs that the caller may see, a row for each record of slurmctld's and each partition of a
 * pending job. The tasks of a pending array are one record until one of them is split off: it has
 * started, or has a priority, a hold or a booking of its own.
 */
int queue_read(struct queue *q, struct ccr_error *err);
/* The number of a TRES in sprio's list of them; 0 if it is not there. */
double queue_tres(const char *list, const char *name, size_t len);

/* A row of j for each of its partitions, a list with commas that is cut up. Returns how many. */
size_t queue_split(struct queue_job *out, const struct queue_job *j, char *partitions);
void queue_free(struct queue *q);

/* Is this row (part of) the job that was asked for: 12, 12_3, 12+1? */
bool queue_matches(const struct queue_job *j, const char *asked);

/* Does it wait to be started: PENDING, or a form of it, such as REQUEUE_HOLD? */
bool queue_waits(const struct queue_job *j);

/* Does it hold its nodes, till its end at the latest? (A suspended one has no end.) */
bool queue_runs(const struct queue_job *j);

/*
 * Does a go before b in the queue of a partition, as slurmctld has it: one with a reservation
 * first, then by priority, submit time and job id?
 */
bool queue_before(const struct queue_job *a, const struct queue_job *b);

/* squeue's time as seconds since 1970; -1 for N/A and the like. */
time_t queue_time(const char *text);

#endif
