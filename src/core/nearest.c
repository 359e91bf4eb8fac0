/* nearest - see nearest.h */
#include "core/nearest.h"

#include <string.h>

#define MAX_LEN 64

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Capitals are no difference: whoever shouts a name means it. In ASCII, whatever the locale. */
static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Optimal string alignment distance of two names of at most MAX_LEN characters. */
static size_t distance(const char *a, size_t la, const char *b, size_t lb)
{
	size_t d[3][MAX_LEN + 1];
	size_t *before = d[0], *last = d[1], *now = d[2];

	for (size_t j = 0; j <= lb; j++)
		last[j] = j;
	for (size_t i = 1; i <= la; i++) {
		now[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = small(a[i - 1]) != small(b[j - 1]);

			now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + cost);
			if (i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) &&
			    small(a[i - 2]) == small(b[j - 1]) && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		size_t *t = before;
		before = last;
		last = now;
		now = t;
	}
	return last[lb];
}

const char *ccr_nearest(const char *name, const char *const *names, size_t n)
{
	size_t len = strlen(name), best = len / 3 > 2 ? len / 3 : 2;
	const char *found = NULL;

	if (len > MAX_LEN)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t l = strlen(names[i]);

		if (l > MAX_LEN)
			continue;
		size_t d = distance(name, len, names[i], l);
		/* a name that shares nothing is no suggestion, however short */
		if (d < l && (d < best || (d == best && !found))) {
			best = d;
			found = names[i];
		}
	}
	return found;
}
