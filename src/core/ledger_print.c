/* ledger_print - see ledger_print.h */
#include "core/ledger_print.h"

#include "core/crc32.h"
#include "core/ledger_json.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A file with the sum of what has gone into it. */
struct sink {
	FILE *f;
	uint32_t crc;
	int why; /* errno of the first write that failed */
};

static void put(struct sink *s, const char *text, size_t len)
{
	s->crc = ccr__crc32(s->crc, text, len);
	errno = 0;
	if (fwrite(text, 1, len, s->f) < len && !s->why)
		s->why = errno ? errno : EIO;
}

static void put_text(struct sink *s, const char *text)
{
	put(s, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void putf(struct sink *s, const char *fmt, ...)
{
	char buf[200];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	put(s, buf, n < 0 ? 0 : (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

/* The shortest decimal that reads back as v. */
static void put_number(struct sink *s, double v)
{
	char buf[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	/* A program may run under a locale with a decimal comma; JSON has a point. */
	for (char *p = buf; *p; p++) {
		if (*p == ',')
			*p = '.';
	}
	put_text(s, buf);
}

static bool put_name(struct sink *s, const char *member, const char *name)
{
	json_object *v = json_object_new_string(name);
	const char *text = v ? json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN |
								     JSON_C_TO_STRING_NOSLASHESCAPE)
			     : NULL;

	if (text) {
		putf(s, "\"%s\": ", member);
		put_text(s, text);
	}
	json_object_put(v);
	return text;
}

static void put_bins(struct sink *s, const struct ccr_usage_model *model, const double *bins)
{
	size_t n = ccr_usage_bins(model);

	if (model->kind != CCR_USAGE_WINDOWS) {
		put_number(s, bins[0]);
		return;
	}
	while (n && bins[n - 1] == 0)
		n--;
	put_text(s, "[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			put_text(s, ", ");
		put_number(s, bins[i]);
	}
	put_text(s, "]");
}

static void put_model(struct sink *s, const struct ccr_usage_model *m)
{
	putf(s, "  \"model\": {\"kind\": \"%s\", ", ccr_usage_kind_name(m->kind));
	switch (m->kind) {
	case CCR_USAGE_HALFLIFE:
		put_text(s, "\"half_life_s\": ");
		put_number(s, m->half_life_s);
		break;
	case CCR_USAGE_WINDOWS:
		putf(s,
		     "\"interval_s\": %lld, \"depth\": %u, \"decay\": ", (long long)m->interval_s,
		     m->depth);
		put_number(s, m->decay);
		break;
	case CCR_USAGE_LSF:
		put_text(s, "\"hist_hours\": ");
		put_number(s, m->hist_hours);
		break;
	}
	put_text(s, "},\n");
}

int ccr_ledger_print(const struct ccr_ledger *l, FILE *f, struct ccr_error *err)
{
	const struct ccr_usage_model *model = ccr_ledger_model(l);
	const struct ccr_ledger_entry *e = NULL;
	struct sink s = {f, 0, 0};

	putf(&s, "{\n  \"version\": 1,\n  \"time\": %lld,\n  \"charged_until\": %lld,\n",
	     (long long)ccr_ledger_time(l), (long long)ccr_ledger_charged_until(l));
	put_model(&s, model);
	put_text(&s, "  \"usage\": [");
	while ((e = ccr_ledger_next(l, e))) {
		struct ccr_usage_key key = ccr_ledger_entry_key(e);
		const char *const names[][2] = {{"account", key.account},
						{"user", key.user},
						{"partition", key.partition},
						{"qos", key.qos}};

		put_text(&s, e == ccr_ledger_next(l, NULL) ? "\n    {" : ",\n    {");
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (!put_name(&s, names[i][0], names[i][1]))
				return ccr_error_nomem(err);
			put_text(&s, ", ");
		}
		for (int m = 0; m < CCR_MEASURES; m++) {
			putf(&s, "%s\"%s\": ", m ? ", " : "", ccr__measure_names[m]);
			put_bins(&s, model, ccr_ledger_entry_bins(l, e, (enum ccr_measure)m));
		}
		put_text(&s, "}");
	}
	put_text(&s, "\n  ]");
	putf(&s, ",\n  \"check\": \"%08x\"\n}\n", (unsigned)s.crc);
	errno = s.why;
	if (errno)
		return ccr_error_set(err, CCR_EIO, 0, "writing the usage failed: %m");
	return CCR_OK;
}
