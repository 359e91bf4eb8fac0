#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

static struct json_object *parse(const char *text)
{
	struct json_object *root = NULL;
	struct ccr_error err = {0};

	cr_assert_eq(ccr_json_parse(text, strlen(text), "f", &root, &err), 0, "%s", err.text);
	return root;
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	cr_assert(json_object_object_get_ex(o, key, &v), "%s", key);
	return v;
}

Test(json, knows_the_line_of_every_member)
{
	struct json_object *root =
	    parse("\n{ \"a\": 1,\r\n"
		  "  \"b\"\n:\n{\n"
		  "    \"c\": [ 1,\n 2,\n\n {\"d\": null,\n \"e\": []} ] },\n"
		  "  \"f\\n\": \"g\\\"\\\\\"\n}\n\n");
	struct json_object *b = member(root, "b"), *c = member(b, "c");
	struct json_object *d = json_object_array_get_idx(c, 2);

	cr_expect_eq(ccr_json_line(root), 2);
	cr_expect_eq(ccr_json_member_line(root, 0), 2);
	cr_expect_eq(ccr_json_member_line(root, 1), 3); /* the key's, not the value's */
	cr_expect_eq(ccr_json_member_line(root, 2), 11);
	cr_expect_eq(ccr_json_line(b), 5);
	cr_expect_eq(ccr_json_member_line(b, 0), 6);
	cr_expect_eq(ccr_json_member_line(c, 0), 6);
	cr_expect_eq(ccr_json_member_line(c, 1), 7);
	cr_expect_eq(ccr_json_member_line(c, 2), 9);
	cr_expect_eq(ccr_json_member_line(d, 0), 9);
	cr_expect_eq(ccr_json_member_line(d, 1), 10);
	cr_expect_eq(ccr_json_line(member(d, "e")), 10);
	/* what there is none of */
	cr_expect_eq(ccr_json_member_line(root, 3), 0);
	cr_expect_eq(ccr_json_line(member(root, "a")), 0);
	cr_expect_eq(ccr_json_line(NULL), 0);
	json_object_put(root);
}

Test(json, keys_are_compared_as_json_understands_them)
{
	struct json_object *root;
	struct ccr_error err = {0};
	static const char twice[] = "{\"caf\\u00e9\": 1,\n \"caf\xc3\xa9\": 2}";

	root = parse("{\"a\": 1, \"A\": 2, \"a \": 3, \"\\u0061b\": 4, \"\": 5}");
	cr_expect_eq(json_object_object_length(root), 5);
	json_object_put(root);
	cr_expect_eq(ccr_json_parse(twice, strlen(twice), "f", &root, &err), CCR_EINVAL);
	cr_expect_null(root);
	cr_expect_eq(err.line, 2);
	cr_expect_not_null(strstr(err.text, "first on line 1"), "%s", err.text);
}

Test(json, reads_only_len_bytes)
{
	struct json_object *root = NULL;

	cr_assert_eq(ccr_json_parse("{\"a\": 1}xyz", 8, "f", &root, NULL), 0);
	cr_expect_eq(json_object_get_int(member(root, "a")), 1);
	json_object_put(root);
	cr_expect_eq(ccr_json_parse("{\"a\": 1}xyz", 9, "f", &root, NULL), CCR_EINVAL);
}

Test(json, accepts_the_deepest_that_it_says_and_no_more)
{
	char text[2 * CCR_JSON_DEPTH + 4];
	struct json_object *root = NULL;

	memset(text, '[', CCR_JSON_DEPTH);
	memset(text + CCR_JSON_DEPTH, ']', CCR_JSON_DEPTH);
	text[2 * CCR_JSON_DEPTH] = '\0';
	json_object_put(parse(text));
	memset(text, '[', CCR_JSON_DEPTH + 1);
	memset(text + CCR_JSON_DEPTH + 1, ']', CCR_JSON_DEPTH + 1);
	cr_expect_eq(ccr_json_parse(text, 2 * CCR_JSON_DEPTH + 2, "f", &root, NULL), CCR_EINVAL);
}

Test(json, every_cut_of_a_good_text_is_refused)
{
	static const char good[] = "{\"a\": [1, -2.5e3, true, null, \"x\\u00e9\\\"\"], \"b\": {}}";
	struct json_object *root = NULL;
	struct ccr_error err;

	json_object_put(parse(good));
	for (size_t len = 0; len + 1 < sizeof(good) - 1; len++) {
		cr_expect_eq(ccr_json_parse(good, len, "f", &root, &err), CCR_EINVAL, "%zu", len);
		cr_expect_null(root);
		cr_expect_not_null(strstr(err.text, len ? "end of the file" : "empty file"), "%s",
				   err.text);
	}
}

Test(json, foreign_text_is_made_fit_for_a_message)
{
	char out[80];
	static const char umlauts[] =
	    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
	    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
	    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
	    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4xx\xc3\xa4\xc3\xa4";

	cr_expect_str_eq(ccr_json_printable("a\nb\x7f\x1b[1m", 8, out, sizeof(out)), "a?b??[1m");
	cr_expect_str_eq(ccr_json_printable("abc", 2, out, sizeof(out)), "ab");
	cr_expect_str_eq(ccr_json_printable("abcdefghijkl", 12, out, 8), "abcd...");
	cr_expect_str_eq(ccr_json_printable("abc", 3, out, 1), "");
	ccr_json_printable(umlauts, sizeof(umlauts) - 1, out, sizeof(out));
	cr_expect_eq(strlen(out), 63); /* 29 of them, xx, three dots: none cut in two */
	cr_expect_str_eq(out + 58, "xx...");
}

/* The kernel's own files have a size of 0 and are longer. */
Test(json, reads_a_file_that_does_not_tell_its_size)
{
	char *text;
	size_t len;
	struct ccr_error e = {0};

	cr_assert_eq(ccr_json_read_file("/proc/self/status", 1 << 20, &text, &len, NULL, &e),
		     CCR_OK, "%s", e.text);
	cr_assert_gt(len, 100);
	cr_assert_eq(strlen(text), len);
	cr_assert(strstr(text, "Name:") == text && strstr(text, "nonvoluntary_ctxt_switches"));
	free(text);
	cr_assert_eq(ccr_json_read_file("/proc/self/status", 100, &text, &len, NULL, &e),
		     CCR_EINVAL);
	cr_assert(strstr(e.text, "more than 100 bytes"), "%s", e.text);
}
