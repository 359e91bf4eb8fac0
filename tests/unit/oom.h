/*
 * oom - every allocation of the core failing in turn
 *
 * The test programs are linked with --wrap for what the core allocates with, so that a test can
 *make the n-th of these calls fail. Allocations inside the libraries are not counted; a library's
 *own constructor counts as one.
 *
 *	for (unsigned long n = 1;; n++) {
 *		oom_fail_at(n);
 *		rc = the_function();
 *		if (!oom_end())
 *			break; // it needed fewer than n: all have been tried
 *		... rc must be CCR_ENOMEM, and nothing may have changed ...
 *	}
 */
#ifndef CCR_TESTS_OOM_H
#define CCR_TESTS_OOM_H

#include <stdbool.h>

/* The n-th allocation from now on fails (1 the next), once. */
void oom_fail_at(unsigned long n);

/* From now on none fails; whether one did. */
bool oom_end(void);

#endif
