/*
 * nearest - "did you mean ...?"
 */
#ifndef CCR_CORE_NEAREST_H
#define CCR_CORE_NEAREST_H

#include <stddef.h>

/*
 * The one of names[0..n-1] with the smallest edit distance (insert, delete, replace, swap of
 * neighbours; upper and lower case are the same) to `name`, or NULL when the best is further than a
 * third of the name's length (at least 2). The first of equals wins. Names over 64 characters are
 * not compared.
 */
const char *ccr_nearest(const char *name, const char *const *names, size_t n);

#endif
