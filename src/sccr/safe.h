/*
 * safe - texts of others on their way to a terminal or a file
 *
 * Names of users and accounts, fields of a workload, names of files and what stands in messages
 * about them can hold anything. Whatever is no character to be shown comes out as `?`: control
 * characters (of ASCII, delete, and those of Unicode, which some terminals obey just as well),
 * marks that turn the direction of writing, and bytes that are no UTF-8.
 */
#ifndef SCCR_SAFE_H
#define SCCR_SAFE_H

#include <stdio.h>

/* A text made safe, for an argument of printf: sccr_safe(name).text. Longer ones are cut. */
struct sccr_safe {
	char text[1200];
};
struct sccr_safe sccr_safe(const char *text);

/* The same of any length, malloc'd; NULL: out of memory. */
char *sccr_safe_copy(const char *text);

/* Writes it. */
void sccr_put(FILE *out, const char *text);

/* Writes it as a field of CSV, in quotes where it needs them (RFC 4180). */
void sccr_put_csv(FILE *out, const char *text);

/* A JSON string of it; and one written, quotes included. NULL or "": out of memory. */
struct json_object *sccr_json_new(const char *text);
void sccr_json_string(FILE *out, const char *text);

/*
 * One line on standard error: "sccr COMMAND: ..." ("sccr: ..." for NULL), "warning: ...", or
 * nothing in front. Made safe as a whole.
 */
void sccr_say(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sccr_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sccr_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
