/* sim_hostlist - see sim_hostlist.h */
#include "sccr/sim_hostlist.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 256

struct walk {
	int (*each)(const char *name, void *arg);
	void *arg;
	struct ccr_error *err;
	const char *whole;
	unsigned count;
};

static int bad(struct walk *w, const char *at, const char *what)
{
	return ccr_error_set(w->err, CCR_EINVAL, 0, "host list \"%.200s\": %s at \"%.40s\"",
			     w->whole, what, at);
}

/* One range "03-07" or "5"; leaves *s behind it. */
static int range(struct walk *w, const char **s, const char *end, uint64_t *lo, uint64_t *hi,
		 int *width)
{
	const char *from = *s;
	char *next;

	if (!isdigit((unsigned char)*from))
		return bad(w, from, "a number is expected");
	*lo = strtoull(from, &next, 10);
	*width = (int)(next - from);
	*hi = *lo;
	if (next < end && *next == '-') {
		from = next + 1;
		if (!isdigit((unsigned char)*from))
			return bad(w, from, "a number is expected");
		*hi = strtoull(from, &next, 10);
	}
	if (*width > 18 || *hi < *lo || *hi - *lo >= SIM_HOSTLIST_MAX)
		return bad(w, *s, "a range that is empty or too long");
	*s = next;
	return CCR_OK;
}

/* Expands [from, end) behind the prefix that name already has (len characters). */
static int expand(struct walk *w, char *name, size_t len, const char *from, const char *end)
{
	const char *open = memchr(from, '[', (size_t)(end - from));
	const char *close, *s;
	size_t plain = (size_t)((open ? open : end) - from);
	int rc;

	if (len + plain >= NAME_MAX_LEN)
		return bad(w, from, "a name that is too long");
	memcpy(name + len, from, plain);
	len += plain;
	if (!open) {
		name[len] = '\0';
		if (strpbrk(name, "[]") || !len)
			return bad(w, from, "a bracket or nothing where a name is expected");
		if (++w->count > SIM_HOSTLIST_MAX)
			return bad(w, from, "too many hosts");
		return w->each(name, w->arg);
	}
	close = memchr(open, ']', (size_t)(end - open));
	if (!close)
		return bad(w, open, "a bracket that is not closed");
	for (s = open + 1; s < close;) {
		uint64_t lo = 0, hi = 0;
		int width = 0;

		rc = range(w, &s, close, &lo, &hi, &width);
		if (rc)
			return rc;
		for (uint64_t v = lo; v <= hi; v++) {
			int n = snprintf(name + len, NAME_MAX_LEN - len, "%0*llu", width,
					 (unsigned long long)v);

			if (n < 0 || len + (size_t)n >= NAME_MAX_LEN)
				return bad(w, from, "a name that is too long");
			rc = expand(w, name, len + (size_t)n, close + 1, end);
			if (rc)
				return rc;
		}
		if (s < close && *s != ',')
			return bad(w, s, "a comma is expected");
		if (s < close)
			s++;
	}
	return CCR_OK;
}

int sim_hostlist_each(const char *text, int (*each)(const char *name, void *arg), void *arg,
		      struct ccr_error *err)
{
	struct walk w = {.each = each, .arg = arg, .err = err, .whole = text};
	char name[NAME_MAX_LEN];
	const char *s = text, *end;
	int depth, rc;

	while (*s) {
		depth = 0;
		for (end = s; *end && (depth || *end != ','); end++)
			depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
		rc = expand(&w, name, 0, s, end);
		if (rc)
			return rc;
		s = *end ? end + 1 : end;
	}
	return CCR_OK;
}

/* Splits "gpu07" into its prefix length, and the number; false if it ends in no digit. */
static bool split(const char *name, size_t *prefix, uint64_t *number)
{
	size_t len = strlen(name), p = len;

	while (p && isdigit((unsigned char)name[p - 1]) && len - p < 18)
		p--;
	*prefix = p;
	*number = p < len ? strtoull(name + p, NULL, 10) : 0;
	return p < len;
}

/* Does b follow a: same prefix and width, the next number? */
static bool follows(const char *a, const char *b)
{
	size_t pa, pb;
	uint64_t na, nb;

	return split(a, &pa, &na) && split(b, &pb, &nb) && pa == pb && !strncmp(a, b, pa) &&
	       nb == na + 1 && (strlen(a) == strlen(b) || a[pa] != '0');
}

void sim_hostlist_print(const char *const *names, unsigned n, char *out, unsigned size)
{
	unsigned used = 0, i = 0;

	if (size)
		out[0] = '\0';
	while (i < n) {
		unsigned last = i;
		size_t p;
		uint64_t number;
		char part[2 * NAME_MAX_LEN];
		int len;

		while (last + 1 < n && follows(names[last], names[last + 1]))
			last++;
		split(names[i], &p, &number);
		if (last > i)
			snprintf(part, sizeof(part), "%.*s[%s-%s]", (int)p, names[i], names[i] + p,
				 names[last] + p);
		else
			snprintf(part, sizeof(part), "%s", names[i]);
		len = snprintf(out + used, size - used, "%s%s", used ? "," : "", part);
		if (len < 0 || used + (unsigned)len + 4 >= size) {
			if (size - used > 4)
				memcpy(out + used, "...", 4);
			return;
		}
		used += (unsigned)len;
		i = last + 1;
	}
}
