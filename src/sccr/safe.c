/* safe - see safe.h */
#include "sccr/safe.h"

#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A path, the system's words for what is wrong with it, and ours. */
#define LINE_MAX_SAY 8192

/* Is this a character to be shown? */
static bool shown(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c > 0x10ffff)
		return false;
	if (c >= 0xd800 && c < 0xe000) /* halves of characters: no UTF-8 */
		return false;
	/* line and paragraph separators, and marks of direction */
	return !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

/* Bytes of the character that begins here; 0: none that is to be shown. */
static size_t length_of(const char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);

	if (!n || s[0] >= 0xf8)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) /* the end of the text, too */
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c >= least[n] && shown(c) ? n : 0;
}

/* The text's next character, or `?` for it; *text is moved on. */
static size_t next(const char **text, const char **bytes)
{
	size_t n = length_of(*text);

	*bytes = n ? *text : "?";
	*text += n ? n : 1;
	return n ? n : 1;
}

static void copy(char *out, size_t size, const char *text)
{
	size_t at = 0;

	while (*text) {
		const char *bytes;
		size_t n = next(&text, &bytes);

		if (at + n >= size)
			break;
		memcpy(out + at, bytes, n);
		at += n;
	}
	out[at] = '\0';
}

struct sccr_safe sccr_safe(const char *text)
{
	struct sccr_safe safe = {""};

	copy(safe.text, sizeof(safe.text), text);
	return safe;
}

char *sccr_safe_copy(const char *text)
{
	size_t size = strlen(text) + 1;
	char *out = malloc(size);

	if (out)
		copy(out, size, text);
	return out;
}

void sccr_put(FILE *out, const char *text)
{
	while (*text) {
		const char *bytes;
		size_t n = next(&text, &bytes);

		fwrite(bytes, 1, n, out);
	}
}

void sccr_put_csv(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"")) {
		sccr_put(out, text);
		return;
	}
	fputc('"', out);
	while (*text) {
		const char *bytes;
		size_t n = next(&text, &bytes);

		if (*bytes == '"')
			fputc('"', out);
		fwrite(bytes, 1, n, out);
	}
	fputc('"', out);
}

struct json_object *sccr_json_new(const char *text)
{
	char *safe = sccr_safe_copy(text);
	struct json_object *s = safe ? json_object_new_string(safe) : NULL;

	free(safe);
	return s;
}

void sccr_json_string(FILE *out, const char *text)
{
	struct json_object *s = sccr_json_new(text);

	fputs(s ? json_object_to_json_string_ext(s, JSON_C_TO_STRING_NOSLASHESCAPE) : "\"\"", out);
	json_object_put(s);
}

static void __attribute__((format(printf, 3, 0)))
say(const char *before, const char *command, const char *format, va_list ap)
{
	char line[LINE_MAX_SAY];

	vsnprintf(line, sizeof(line), format, ap);
	fputs(before, stderr);
	if (command)
		fprintf(stderr, " %s", command);
	fputs(*before ? ": " : "", stderr);
	sccr_put(stderr, line);
	fputc('\n', stderr);
}

void sccr_say(const char *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("sccr", command, format, ap);
	va_end(ap);
}

void sccr_warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("warning", NULL, format, ap);
	va_end(ap);
}

void sccr_tell(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("", NULL, format, ap);
	va_end(ap);
}
