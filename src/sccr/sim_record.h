/*
 * sim_record - what happened in a run, kept for the picture: who ran where and when, the queue and
 * the bookings at moments in between
 *
 * Memory is linear in the number of jobs: a run without a picture keeps no record. The queue is
 * looked at in every cycle at first, then, whenever there are too many looks, half as often.
 */
#ifndef SCCR_SIM_RECORD_H
#define SCCR_SIM_RECORD_H

#include "sccr/sim_engine.h"

/* Rows of the queue that a look keeps, and how many looks. */
#define SIM_LOOK_ROWS  40
#define SIM_LOOKS_MAX  3000
#define SIM_ROW_VALUES (2 + SIM_TERMS) /* job, priority, then the terms */

/* Where a job ran: the GPUs of a node by index, and a range of its CPUs. */
struct sim_place {
	uint32_t job, node;
	uint64_t gpus; /* bit i: GPU i of the node */
	uint16_t core, cores;
	uint16_t next; /* 1: the CPUs go on in the next place, of the same job and node */
};

struct sim_record_job {
	char id[40];
	uint32_t user, account, partition;
	sim_time submit, start, end, limit, first_booking;
	struct sim_demand demand;
	bool filler;
	double score, terms[SIM_TERMS];
};

/* A booking as it stood in one look or in several. */
struct sim_record_booking {
	uint32_t job;
	sim_time start;
	uint32_t first, n; /* in sim_record.share */
};

struct sim_look {
	sim_time t;
	uint32_t queued;
	uint32_t row, rows;	    /* in sim_record.row, SIM_ROW_VALUES each */
	uint32_t booking, bookings; /* in sim_record.booked */
};

struct sim_record {
	struct sim_record_job *job;
	uint32_t jobs, job_room;
	struct sim_place *place;
	uint32_t places, place_room;
	struct sim_pick *share;
	uint32_t shares, share_room;
	struct sim_record_booking *booking;
	uint32_t bookings, booking_room;
	struct sim_look *look;
	uint32_t looks, look_room;
	double *row;
	uint32_t rows, row_room;
	uint32_t *booked; /* indices of bookings, look by look */
	uint32_t nbooked, booked_room;
	sim_time every, last_look;

	/* private: who holds which GPU and CPU of each node, by job + 1 */
	uint32_t **gpu, **core;
	uint32_t nodes;
};

int sim_record_init(struct sim_record *r, const struct sim_cluster *c);

/* Called by the engine. */
int sim_record_submit(struct sim_record *r, const struct sim *s, const struct sim_job *j,
		      struct ccr_error *err);
int sim_record_start(struct sim_record *r, const struct sim *s, const struct sim_job *j,
		     struct ccr_error *err);
int sim_record_end(struct sim_record *r, const struct sim *s, const struct sim_job *j,
		   struct ccr_error *err);
int sim_record_cycle(struct sim_record *r, const struct sim *s, struct ccr_error *err);

void sim_record_free(struct sim_record *r);

/* The schedule as CSV: the header line (s may be NULL), and a line for a job that ended. */
void sim_record_csv_head(FILE *f);
void sim_record_csv(FILE *f, const struct sim *s, const struct sim_job *j);

#endif
