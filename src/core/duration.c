/* duration - see duration.h */
#include "core/duration.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A number of one to `most` digits; returns what follows it, or NULL. */
static const char *number(const char *p, int most, int64_t *value)
{
	int n = 0;

	*value = 0;
	for (; p[n] >= '0' && p[n] <= '9'; n++) {
		if (n == most)
			return NULL;
		*value = *value * 10 + (p[n] - '0');
	}
	return n ? p + n : NULL;
}

int ccr_duration_parse(const char *text, int64_t *seconds)
{
	int64_t days = 0, part[3] = {0, 0, 0}, sum;
	bool has_days = strchr(text, '-') != NULL;
	const char *p = text;
	int n = 0;

	if (has_days) {
		p = number(p, 5, &days);
		if (!p || *p++ != '-')
			return -1;
	}
	for (; n < 3; n++) {
		p = number(p, n || has_days ? 2 : 6, &part[n]);
		if (!p)
			return -1;
		if (*p != ':') {
			n++;
			break;
		}
		if (n < 2)
			p++;
	}
	if (*p || (!has_days && n != 3) || part[1] > 59 || part[2] > 59 ||
	    (has_days && part[0] > 23))
		return -1;
	sum = days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
	if (sum > CCR_DURATION_MAX)
		return -1;
	*seconds = sum;
	return 0;
}

const char *ccr_duration_print(int64_t seconds, char *out, unsigned size)
{
	snprintf(out, size, "%" PRId64 "-%02d:%02d:%02d", seconds / 86400,
		 (int)(seconds / 3600 % 24), (int)(seconds / 60 % 60), (int)(seconds % 60));
	return out;
}
