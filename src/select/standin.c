/*
 * standin - sched/backfill's turns in the place of a main cycle that does not come; see gate_impl.h
 *
 * Whoever comes to the plugin outside the main cycle waits for that while a job above is new
 * (unseen.c), which takes a second or two. There are controllers that have no main cycle: a backup
 * of Slurm 22.05 that has taken over has ended the thread for it, and starts no other. Stock Slurm
 * lives on sched/backfill there, and so does the gate: it goes down the queue in rank order too.
 */
#include "select/gate_impl.h"

#define G ccr__gate
/* s in which none has come though it was asked for, and the same on a backup that has taken over */
#define NOT_COMES  30
#define FOR_BACKUP 5

static int longest(void)
{
	return backup_inx > 0 ? FOR_BACKUP : NOT_COMES;
}

/* A main cycle has come since the first that was asked for; sdiag can reset the counter. */
static bool has_come(void)
{
	return G.asked_cycles != slurmctld_diag_stats.schedule_cycle_counter ||
	       (!G.stands_in && G.cycle_at >= G.asked_first);
}

void ccr__main_asked(void)
{
	time_t now = time(NULL);

	if (!G.stands_in && (!G.asked_first || has_come())) {
		G.asked_cycles = slurmctld_diag_stats.schedule_cycle_counter;
		G.asked_first = now;
		G.turn = 0;
	}
	/* from its next turn on: those above in this one have no booking */
	if (!G.stands_in && !G.turn && now - G.asked_first > longest())
		G.turn = slurmctld_diag_stats.bf_when_last_cycle;
}

bool ccr__turn_begins(void)
{
	time_t turn = slurmctld_diag_stats.bf_when_last_cycle;

	if (!G.turn || turn == G.turn)
		return false;
	if (has_come()) {
		if (G.stands_in)
			info("select/cons_tres (slurm-ccr): the main scheduling cycle is back");
		G.stands_in = false;
		G.asked_first = G.turn = 0;
		return false;
	}
	G.turn = turn;
	if (!G.stands_in)
		error("select/cons_tres (slurm-ccr): slurmctld's main scheduling cycle has not "
		      "come for %d s although jobs wait for it: until it does, jobs are booked "
		      "and started in sched/backfill's turns (a backup controller of Slurm 22.05 "
		      "that has taken over has no main cycle)",
		      longest());
	G.stands_in = true;
	return true;
}
