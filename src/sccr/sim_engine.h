/*
 * sim_engine - the clock of a simulation: jobs come, are started by a scheduler, and end
 *
 * The engine knows what really happens (run times); a scheduler sees what Slurm's would see: the
 * queue in order of priority, what is free, limits of running jobs. Only live jobs (queued,
 * running, or held back for another) are in memory.
 */
#ifndef SCCR_SIM_ENGINE_H
#define SCCR_SIM_ENGINE_H

#include <signal.h>

#include "sccr/sim_figures.h"
#include "sccr/sim_heap.h"
#include "sccr/sim_workload.h"

struct sim;
struct sim_record;

/* What is free of a node. */
struct sim_free {
	uint32_t cpus, mem;
	uint16_t gpus[SIM_NODE_TYPES];
	uint32_t jobs; /* how many run there */
};

/* Gives a job its score and terms, and counts what it uses. Any function may be NULL. */
struct sim_scorer {
	void *state;
	sim_time period; /* how often all queued jobs are scored again; 0: never */
	int ncolumns;
	const char *column[SIM_TERMS];
	int (*score)(void *state, struct sim *s, struct sim_job *j, struct ccr_error *err);
	/* before all are scored again, and whenever time has passed */
	int (*tick)(void *state, struct sim *s, struct ccr_error *err);
	void (*started)(void *state, struct sim *s, struct sim_job *j);
	void (*ended)(void *state, struct sim *s, struct sim_job *j);
	/* one of its places in the queue is gone, as the job started in another partition */
	void (*withdrawn)(void *state, struct sim *s, const struct sim_job *j);
	void (*free)(void *state);
};

struct sim_scheduler {
	const char *name;
	void *state;
	bool nowhere; /* it starts jobs on no particular node */
	/* the next time that it wants a cycle even if nothing changes by then; NULL: never */
	sim_time (*wake)(void *state, const struct sim *s);
	/* Starts what may start (sim_start) and books (sim_book). */
	int (*cycle)(void *state, struct sim *s, struct ccr_error *err);
	/* each of these may be NULL */
	int (*queued)(void *state, struct sim *s, struct sim_job *j, struct ccr_error *err);
	void (*started)(void *state, struct sim *s, const struct sim_job *j);
	void (*ended)(void *state, struct sim *s, const struct sim_job *j);
	void (*free)(void *state);
};

/* A booking of the present cycle. */
struct sim_booking {
	struct sim_job *job;
	sim_time start;
	struct sim_pick *pick; /* owned by the engine */
	uint32_t npick;
};

struct sim {
	const struct sim_cluster *cluster;
	struct sim_workload *workload;
	struct sim_scheduler *sched;
	struct sim_scorer *scorer; /* or NULL: order of submission */
	struct sim_figures *figures;
	struct sim_record *record; /* or NULL */
	FILE *jobs_out;		   /* a line of CSV for each job that ended, or NULL */
	sim_time cycle;		   /* 0: a cycle whenever something changed */
	const volatile sig_atomic_t *stop;
	void (*progress)(void *arg, const struct sim *s);
	void *progress_arg;

	sim_time now;
	struct sim_free *free; /* by node */
	/* highest first; what is no longer SIM_PENDING leaves it after the cycle */
	struct sim_job **queue;
	uint32_t queued, queue_room;
	uint32_t twins; /* of these: further places of jobs that may run in several partitions */
	uint32_t queued_gpu; /* those that want GPUs */
	struct sim_job **running;
	uint32_t nrunning, running_room;
	struct sim_booking *booking;
	uint32_t bookings, booking_room;
	bool interrupted;

	/* private */
	struct sim_levels levels; /* kept by difference */
	struct sim_heap ends, delayed;
	struct sim_job *unused, *numbered;
	struct sim_job ahead;
	bool have_ahead, dirty;
	sim_time next_cycle, next_period;
	uint64_t cycles, live_max, live;
};

/* Runs the workload to its end, or until *stop. Figures are complete either way. 0 or a ccr_code.
 */
int sim_run(struct sim *s, struct ccr_error *err);

/* Jobs in the queue. */
static inline uint32_t sim_waiting(const struct sim *s)
{
	return s->queued - s->twins;
}

/* Sort order of the queue. */
bool sim_before(const struct sim *s, const struct sim_job *a, const struct sim_job *b);

/* How many other places in the queue a waiting job has above this one. */
uint32_t sim_places_above(const struct sim *s, struct sim_job *j);

void sim_free(struct sim *s);

#endif
