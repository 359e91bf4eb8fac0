/* See compat.h. */
#include "slurm/compat.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

struct start {
	char name[16]; /* PR_SET_NAME keeps 15 and the end */
	void *(*fn)(void *);
	void *arg;
};

const char *ccr_slurm_built_for(void)
{
	return SLURM_VERSION_STRING;
}

static void *run(void *p)
{
	struct start s = *(struct start *)p;

	free(p);
	(void)prctl(PR_SET_NAME, s.name, 0, 0, 0);
	return s.fn(s.arg);
}

int ccr_slurm_thread_start(pthread_t *id, const char *name, void *(*fn)(void *), void *arg)
{
	struct start *s;
	sigset_t all, old;
	pthread_t made;
	int err;

	if (!id || !name || !fn)
		return EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ENOMEM;
	strncpy(s->name, name, sizeof(s->name) - 1);
	s->fn = fn;
	s->arg = arg;

	sigfillset(&all);
	err = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!err) {
		err = pthread_create(&made, NULL, run, s);
		(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	if (err) {
		free(s);
		return err;
	}
	*id = made;
	return 0;
}
