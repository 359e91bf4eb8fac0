/* sim_progress - see sim_progress.h */
#include "sccr/sim_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "sccr/sim_text.h"

#define BAR_MAX 30
#define BAR_MIN 5 /* a shorter one shows nothing */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Columns of the terminal; asked each time, as a window changes. */
static int columns(void)
{
	const char *given = getenv("COLUMNS");
	struct winsize w;
	uint64_t n;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		return w.ws_col;
	return given && sim_text_u64(given, 1, 10000, &n) ? (int)n : 80;
}

void sim_progress_begin(struct sim_progress *p, bool quiet)
{
	p->on = !quiet && isatty(STDERR_FILENO);
	p->drawn = false;
	p->start = seconds();
	p->shown = p->start;
}

static bool is_due(struct sim_progress *p)
{
	double now = p->on ? seconds() : 0;

	if (!p->on || now - p->shown < 0.25)
		return false;
	p->shown = now;
	return true;
}

/*
 * One line, never so wide that the terminal breaks it: the bar gives way first, then the end is
 * cut. done: the part that is, or negative if nobody knows.
 */
static void draw(struct sim_progress *p, const char *what, double done, const char *words)
{
	int room = columns() - 1, plain = (int)strlen(words) + 13, bar = room - plain - 3, n;
	char text[300], cells[BAR_MAX + 1];

	bar = bar > BAR_MAX ? BAR_MAX : bar;
	if (done < 0 || bar < BAR_MIN) {
		snprintf(text, sizeof(text), "%-12s %s", what, words);
	} else {
		n = (int)(done * bar);
		memset(cells, '.', (size_t)bar);
		memset(cells, '#', (size_t)(n < bar ? n : bar));
		cells[bar] = '\0';
		snprintf(text, sizeof(text), "%-12s [%s] %s", what, cells, words);
	}
	fprintf(stderr, "\r%.*s\033[K", room, text);
	fflush(stderr);
	p->drawn = true;
}

void sim_progress_step(void *arg, const struct sim *s)
{
	struct sim_progress *p = arg;
	double done, left;
	char words[200];

	if (!is_due(p))
		return;
	done = (double)s->figures->all.jobs / (double)s->workload->counts.jobs;
	left = done > 0 ? (p->shown - p->start) * (1 - done) / done : 0;
	snprintf(words, sizeof(words), "%3.0f %%, %u running, %u queued, %d:%02d left", 100 * done,
		 s->nrunning, sim_waiting(s), (int)left / 60, (int)left % 60);
	draw(p, s->sched->name, done, words);
}

void sim_progress_read(void *arg, const char *doing, uint64_t bytes, uint64_t size)
{
	struct sim_progress *p = arg;
	double done = size ? (double)bytes / (double)size : -1;
	char words[200];

	if (!is_due(p))
		return;
	if (size)
		snprintf(words, sizeof(words), "%3.0f %%, %.1f of %.1f MB", 100 * done,
			 (double)bytes / 1e6, (double)size / 1e6);
	else
		snprintf(words, sizeof(words), "%.1f MB", (double)bytes / 1e6);
	draw(p, doing, done, words);
}

void sim_progress_hide(struct sim_progress *p)
{
	if (!p->drawn)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	p->drawn = false;
}

void sim_progress_end(struct sim_progress *p)
{
	sim_progress_hide(p);
	p->on = false;
}
