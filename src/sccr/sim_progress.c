/* sim_progress - see sim_progress.h */
#include "sccr/sim_progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR 30

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void sim_progress_begin(struct sim_progress *p, bool quiet)
{
	p->on = !quiet && isatty(STDERR_FILENO);
	p->start = seconds();
	p->shown = p->start;
}

void sim_progress_step(void *arg, const struct sim *s)
{
	struct sim_progress *p = arg;
	double now, done, left;
	char bar[BAR + 1];
	int n;

	if (!p->on)
		return;
	now = seconds();
	if (now - p->shown < 0.25)
		return;
	p->shown = now;
	done = (double)s->figures->all.jobs / (double)s->workload->counts.jobs;
	left = done > 0 ? (now - p->start) * (1 - done) / done : 0;
	n = (int)(done * BAR);
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)(n < BAR ? n : BAR));
	bar[BAR] = '\0';
	fprintf(stderr, "\r%-12s [%s] %3.0f %%, %u running, %u queued, %d:%02d left \033[K",
		s->sched->name, bar, 100 * done, s->nrunning, sim_waiting(s), (int)left / 60,
		(int)left % 60);
	fflush(stderr);
}

void sim_progress_end(struct sim_progress *p)
{
	if (p->on && p->shown > p->start) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	p->on = false;
}
