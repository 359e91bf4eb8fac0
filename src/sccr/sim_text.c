/* sim_text - see sim_text.h */
#include "sccr/sim_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

bool sim_text_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end || v < min || v > max)
		return false;
	*out = v;
	return true;
}

bool sim_text_double(const char *text, double *out)
{
	char *end;

	if (!*text || isspace((unsigned char)text[0]))
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

bool sim_text_seconds(const char *text, sim_time *out)
{
	double v;

	if (!sim_text_double(text, &v) || fabs(v) > 9.5e9)
		return false;
	*out = (sim_time)llround(v * (double)SIM_SECOND);
	return true;
}

bool sim_text_limit(const char *text, sim_time *out)
{
	uint64_t v[4] = {0};
	const char *dash = strchr(text, '-'), *s = dash ? dash + 1 : text;
	int n = 0;
	char *end;

	if (!strcasecmp(text, "UNLIMITED") || !strcasecmp(text, "INFINITE")) {
		*out = SIM_NEVER;
		return true;
	}
	if (dash) {
		v[0] = strtoull(text, &end, 10);
		if (end != dash || !isdigit((unsigned char)text[0]))
			return false;
	}
	for (;; s = end + 1) {
		if (!isdigit((unsigned char)*s) || n == 3)
			return false;
		v[++n] = strtoull(s, &end, 10);
		if (*end != ':')
			break;
	}
	if (*end || v[0] > 36600 || v[1] > 100000000 || v[2] > 100000000 || v[3] > 100000000)
		return false;
	if (dash)
		*out = (sim_time)(v[0] * 86400 + v[1] * 3600 + v[2] * 60 + v[3]);
	else if (n == 1)
		*out = (sim_time)v[1] * 60;
	else if (n == 2)
		*out = (sim_time)(v[1] * 60 + v[2]);
	else
		*out = (sim_time)(v[1] * 3600 + v[2] * 60 + v[3]);
	*out *= SIM_SECOND;
	return true;
}

bool sim_text_date(const char *text, sim_time *out)
{
	struct tm tm = {0}, given;
	const char *end;

	if (!strchr(text, 'T'))
		return sim_text_seconds(text, out);
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end || *end)
		return false;
	given = tm;
	*out = (sim_time)timegm(&tm) * SIM_SECOND;
	return tm.tm_mday == given.tm_mday && tm.tm_mon == given.tm_mon; /* no February 30 */
}

bool sim_text_mem(const char *text, uint32_t *mib)
{
	double v, scale = 1;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	v = strtod(text, &end);
	switch (toupper((unsigned char)*end)) {
	case 'K':
		scale = 1.0 / 1024;
		end++;
		break;
	case 'M':
		end++;
		break;
	case 'G':
		scale = 1024;
		end++;
		break;
	case 'T':
		scale = 1024.0 * 1024;
		end++;
		break;
	case 'P':
		scale = 1024.0 * 1024 * 1024;
		end++;
		break;
	}
	v = ceil(v * scale);
	if (*end || !(v >= 0) || v > 4e9)
		return false;
	*mib = (uint32_t)v;
	return true;
}

const char *sim_text_span(sim_time t, char *out, unsigned size)
{
	const char *sign = t < 0 ? "-" : "";
	int64_t ms = t < 0 ? -t : t, s = (ms + 500) / 1000;

	if (ms < 60 * SIM_SECOND && ms % 1000 == 0)
		snprintf(out, size, "%s%lld s", sign, (long long)s);
	else if (ms < 60 * SIM_SECOND)
		snprintf(out, size, "%s%.1f s", sign, (double)ms / 1000);
	else if (s < 86400)
		snprintf(out, size, "%s%d:%02d:%02d", sign, (int)(s / 3600), (int)(s / 60 % 60),
			 (int)(s % 60));
	else
		snprintf(out, size, "%s%lldd %02d:%02d:%02d", sign, (long long)(s / 86400),
			 (int)(s / 3600 % 24), (int)(s / 60 % 60), (int)(s % 60));
	return out;
}
