/*
 * fastcycle - lets slurmctld's decay thread turn every CCR_CYCLE_MS milliseconds
 *
 * To be preloaded into slurmctld. PriorityCalcPeriod counts minutes, which is long for a test of
 * priority/multifactor. Only the wait of the thread named "decay" is shortened; its work, clock and
 * everything else is what it always is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

typedef int (*wait_fn)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	static wait_fn real;
	struct timespec soon;
	const char *period;
	char name[16] = "";
	long ms;

	if (!real)
		real = (wait_fn)dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	if (!real)
		real = (wait_fn)dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	if (!real)
		return EINVAL;
	period = getenv("CCR_CYCLE_MS");
	if (!period || prctl(PR_GET_NAME, name, 0, 0, 0) || strcmp(name, "decay") != 0)
		return real(cond, mutex, until);
	ms = strtol(period, NULL, 10);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += ms / 1000;
	soon.tv_nsec += ms % 1000 * 1000000;
	if (soon.tv_nsec >= 1000000000) {
		soon.tv_sec++;
		soon.tv_nsec -= 1000000000;
	}
	return real(cond, mutex, &soon);
}
