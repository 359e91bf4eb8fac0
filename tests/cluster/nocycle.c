/*
 * nocycle - for the tests: slurmctld's main scheduling thread waits until a file is there
 *
 * So it is on a backup controller of Slurm 22.05 that has taken over: the thread is gone. The file
 * is that of the environment's CCR_CYCLE_FILE.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int prctl(int option, ...)
{
	int (*real)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
	const char *file = getenv("CCR_CYCLE_FILE");
	unsigned long a[4];
	va_list more;
	int rc;

	va_start(more, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(more, unsigned long);
	va_end(more);
	rc = real(option, a[0], a[1], a[2], a[3]);
	if (option == PR_SET_NAME && file && !strcmp((const char *)a[0], "sched_agent"))
		while (access(file, F_OK))
			usleep(100000);
	return rc;
}
