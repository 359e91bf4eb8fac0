#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sccr/safe.h"

static const struct {
	const char *text, *safe;
} rows[] = {
    {"", ""},
    {"plain, with \"quotes\"", "plain, with \"quotes\""},
    {"\033[31mred\033[0m", "?[31mred?[0m"},
    {"a\tb\nc\rd\x7f", "a?b?c?d?"},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xc2\x9b"
     "31m",
     "??31m"}, /* the one character that some terminals take for ESC [ */
    {"\x9b"
     "31m",
     "?31m"},					   /* and the byte of Latin-1 */
    {"\xc0\x9b \xe0\x80\x9b", "?? ???"},	   /* the same, written longer than it may be */
    {"\xed\xa0\x80 \xf4\x90\x80\x80", "??? ????"}, /* halves of characters; beyond the last */
    {"\xff\xfe\xf8\x88\x80\x80\x80", "???????"},
    {"cut \xe2\x82", "cut ??"},
    {"\xe2\x80\xae"
     "drow \xe2\x81\xa6 \xe2\x80\xa8",
     "???drow ??? ???"},
    {"\xc2\xa0\xef\xbf\xbd", "\xc2\xa0\xef\xbf\xbd"},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* What a function wrote into a file. */
static char *written(void (*put)(FILE *, const char *), const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	put(f, text);
	fclose(f);
	return out;
}

Test(safe, what_is_no_character_is_a_question_mark)
{
	for (size_t i = 0; i < ROWS; i++) {
		char *copy = sccr_safe_copy(rows[i].text), *put = written(sccr_put, rows[i].text);

		cr_assert_str_eq(sccr_safe(rows[i].text).text, rows[i].safe, "row %zu: %s", i,
				 sccr_safe(rows[i].text).text);
		cr_assert_str_eq(copy, rows[i].safe);
		cr_assert_str_eq(put, rows[i].safe);
		free(copy);
		free(put);
	}
}

Test(safe, a_long_text_is_cut_between_characters)
{
	char text[4001] = "", *copy;

	for (int i = 0; i < 2000; i++)
		memcpy(text + 2 * i, "\xc3\xa9", 2);
	cr_assert_eq(strlen(sccr_safe(text).text), 1198);
	cr_assert_null(strchr(sccr_safe(text).text, '?'));
	copy = sccr_safe_copy(text);
	cr_assert_eq(strlen(copy), 4000);
	free(copy);
}

Test(safe, fields_of_csv_and_json)
{
	char *csv = written(sccr_put_csv, "a,\"b\"\033"),
	     *json = written(sccr_json_string, "/\"\033\xff");

	cr_assert_str_eq(csv, "\"a,\"\"b\"\"?\"");
	cr_assert_str_eq(json, "\"/\\\"??\"");
	free(csv);
	free(json);
	csv = written(sccr_put_csv, "a\nb");
	cr_assert_str_eq(csv, "a?b");
	free(csv);
}
