#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/config.h"

/* tests/golden/config has the messages; here is what needs files, or looks at the structures. */

static char dir[] = "/tmp/ccr-test-config-XXXXXX";
static char path[64];
static struct ccr_error err;

static void make_dir(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/ccr.json", dir);
	memset(&err, 0, sizeof(err));
}

static void remove_dir(void)
{
	unlink(path);
	rmdir(dir);
}

static void put(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	cr_assert_eq(fwrite(text, 1, len, f), len);
	fclose(f);
}

static int load(const struct ccr_config_options *options)
{
	struct ccr_config *c = NULL;
	int rc = ccr_config_load(path, options, &c, &err);

	cr_expect_eq(c != NULL, rc == 0);
	if (rc)
		cr_expect_eq(strncmp(err.text, dir, strlen(dir)), 0, "names the file: %s",
			     err.text);
	ccr_config_free(c);
	return rc;
}

static const char small[] = "{\"version\": 1, \"preset\": \"ccr\"}\n";

TestSuite(config, .init = make_dir, .fini = remove_dir);

Test(config, keeps_the_text_of_the_file)
{
	struct ccr_config *c = NULL;

	put(small, strlen(small));
	cr_assert_eq(ccr_config_load(path, NULL, &c, &err), 0, "%s", err.text);
	cr_expect_eq(c->text_len, strlen(small));
	cr_expect_str_eq(c->text, small);
	cr_expect_str_eq(c->name, path);
	ccr_config_free(c);
}

Test(config, a_file_that_is_not_there)
{
	cr_expect_eq(load(NULL), CCR_EIO);
	cr_expect_not_null(strstr(err.text, "No such file or directory"), "%s", err.text);
}

Test(config, a_directory)
{
	struct ccr_config *c = NULL;

	cr_expect_eq(ccr_config_load(dir, NULL, &c, &err), CCR_EINVAL);
	cr_expect_not_null(strstr(err.text, "found a directory, expected a regular file"), "%s",
			   err.text);
}

Test(config, a_pipe_does_not_make_it_wait, .timeout = 10)
{
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(load(NULL), CCR_EINVAL);
	cr_expect_not_null(strstr(err.text, "found a pipe"), "%s", err.text);
}

Test(config, fifty_megabytes_are_refused_unread)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	cr_assert(fd >= 0 && ftruncate(fd, 50 << 20) == 0);
	close(fd);
	cr_expect_eq(load(NULL), CCR_EINVAL);
	cr_expect_not_null(
	    strstr(err.text, "found a file of 52428800 bytes, expected at most 1048576"), "%s",
	    err.text);
}

Test(config, one_megabyte_is_read_and_one_byte_more_is_not)
{
	char *text = malloc(CCR_CONFIG_MAX_BYTES + 1);

	cr_assert_not_null(text);
	memset(text, ' ', CCR_CONFIG_MAX_BYTES + 1);
	memcpy(text, small, strlen(small));
	put(text, CCR_CONFIG_MAX_BYTES);
	cr_expect_eq(load(NULL), 0, "%s", err.text);
	put(text, CCR_CONFIG_MAX_BYTES + 1);
	cr_expect_eq(load(NULL), CCR_EINVAL);
	free(text);
}

Test(config, a_device_is_no_file)
{
	struct ccr_config *c = NULL;

	cr_expect_eq(ccr_config_load("/dev/zero", NULL, &c, &err), CCR_EINVAL);
	cr_expect_not_null(strstr(err.text, "found a device"), "%s", err.text);
}

Test(config, a_file_that_others_can_write_is_refused_where_asked)
{
	struct ccr_config_options options = {.check_owner = true, .owner = getuid()};

	put(small, strlen(small));
	chmod(path, 0644);
	cr_expect_eq(load(&options), 0, "%s", err.text);
	chmod(path, 0664);
	cr_expect_eq(load(&options), CCR_EINVAL);
	cr_expect_not_null(strstr(err.text, "found 0664, which lets others write"), "%s", err.text);
	chmod(path, 0602);
	cr_expect_eq(load(&options), CCR_EINVAL);
	cr_expect_eq(load(NULL), 0, "%s", err.text);
}

Test(config, only_root_and_the_named_user_may_own_it)
{
	struct stat st = {.st_mode = S_IFREG | 0644, .st_uid = 0};

	cr_expect_eq(ccr_config_check_owner(&st, "f", 64030, &err), 0);
	st.st_uid = 64030;
	cr_expect_eq(ccr_config_check_owner(&st, "f", 64030, &err), 0);
	st.st_uid = 1000;
	cr_expect_eq(ccr_config_check_owner(&st, "f", 64030, &err), CCR_EINVAL);
	cr_expect_not_null(strstr(err.text, "found user 1000, expected root or user 64030"), "%s",
			   err.text);
}

/* --- what is understood --- */

static struct ccr_config *parse(const char *text)
{
	struct ccr_config *c = NULL;

	cr_assert_eq(ccr_config_parse(text, strlen(text), "ccr.json", NULL, &c, &err), 0, "%s",
		     err.text);
	return c;
}

Test(config, every_preset_is_a_policy_file_of_its_own)
{
	const char *const *names = ccr_config_presets();
	int count = 0;

	for (; names[count]; count++) {
		struct ccr_config *c;
		size_t len = 0;
		const char *text = ccr_config_preset_text(names[count], &len);
		char use[64];

		cr_assert_not_null(text, "%s", names[count]);
		cr_expect_eq(strlen(text), len);
		ccr_config_free(parse(text));
		snprintf(use, sizeof(use), "{\"version\": 1, \"preset\": \"%s\"}", names[count]);
		c = parse(use);
		cr_expect_str_eq(c->preset, names[count]);
		ccr_config_free(c);
	}
	cr_expect_eq(count, 4);
	cr_expect_null(ccr_config_preset_text("slurm", NULL));
}

Test(config, the_files_own_keys_go_before_the_presets)
{
	struct ccr_config *c =
	    parse("{\"base\": 7, \"policy\": {\"age\": \"2*queue_minutes\"},"
		  "\"usage\": {\"hist_hours\": 5}, \"version\": 1, \"preset\": \"lsf\"}");

	cr_expect_eq(c->base, 7); /* though the preset stands after it and has 0 */
	cr_expect_str_eq(c->column[CCR_COL_AGE].text, "2*queue_minutes");
	cr_expect_str_eq(c->column[CCR_COL_FAIRSHARE].text, "lsf_priority");
	cr_expect_eq(c->usage.model, CCR_USAGE_LSF);
	cr_expect_eq(c->usage.hist_hours, 5);
	ccr_config_free(c);
}

Test(config, depth_and_strictness_of_a_partition_fall_back_to_the_defaults)
{
	struct ccr_config *c =
	    parse("{\"version\": 1, \"preset\": \"aqua\", \"backfill\": {"
		  "\"partitions\": {\"a\": 2, \"b\": {\"strict\": false}, \"c\": {"
		  "\"depth\": 0}, \"cpu_batch_exec\": 6}, \"strict\": true, "
		  "\"depth\": 3}}");
	static const struct {
		const char *name;
		int depth;
		bool strict;
	} want[] = {{"a", 2, true},
		    {"b", 3, false},
		    {"c", 0, true},
		    {"d", 3, true},
		    {"gpu_batch_exec", 5, true},
		    {"cpu_batch_exec", 6, true},
		    {NULL, 3, true}};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		int depth = -1;
		bool strict = false;

		ccr_config_backfill_of(c, want[i].name, &depth, &strict);
		cr_expect_eq(depth, want[i].depth, "%s", want[i].name);
		cr_expect_eq(strict, want[i].strict, "%s", want[i].name);
	}
	ccr_config_backfill_of(c, "a", NULL, NULL);
	ccr_config_free(c);
}

Test(config, shares_of_a_user_under_lsf)
{
	struct ccr_config *c = parse("{\"version\": 1, \"preset\": \"lsf\", \"lsf\": {"
				     "\"user_shares\": {\"ada\": 10, \"default\": 2}}}");

	cr_expect_eq(ccr_config_lsf_shares(c, "ada"), 10);
	cr_expect_eq(ccr_config_lsf_shares(c, "bob"), 2);
	cr_expect_eq(ccr_config_lsf_shares(c, NULL), 2);
	ccr_config_free(c);
}

Test(config, a_formula_pasted_from_qmgr_takes_the_place_of_the_preset)
{
	struct ccr_config *c =
	    parse("{\"version\": 1, \"preset\": \"aqua\", \"formula_column\": \"age\","
		  "\"policy\": {\"qos\": \"qos_priority\"}, \"job_sort_formula\":"
		  "\"(0.005*ncpus) + log(max(fairshare_factor, 1e-7))\"}");
	struct ccr_policy_spec spec;

	ccr_config_policy_spec(c, &spec);
	cr_expect_str_eq(spec.expr[CCR_COL_AGE],
			 "(0.005*ncpus) + log(max(fairshare_factor, 1e-7))");
	cr_expect_str_eq(spec.expr[CCR_COL_QOS], "qos_priority");
	cr_expect_null(spec.expr[CCR_COL_JOBSIZE]); /* the preset's */
	cr_expect_null(spec.expr[CCR_COL_FAIRSHARE]);
	ccr_config_free(c);
}

Test(config, dollars_need_a_year)
{
	static const char text[] =
	    "{\"version\": 1, \"preset\": \"ccr\", \"groups\": {\"a\": {\"target\":"
	    "100, \"contributions\": {\"dollars\": {\"2024\": 3}}}}}";
	struct ccr_config *c = NULL;
	struct ccr_config_options options = {.year = 2025};

	cr_expect_eq(ccr_config_parse(text, strlen(text), "ccr.json", NULL, &c, &err), CCR_EINVAL);
	cr_expect_eq(ccr_config_parse(text, strlen(text), "ccr.json", &options, &c, &err), 0);
	ccr_config_free(c);
}

Test(config, an_unreadable_byte_anywhere_never_gets_through)
{
	char text[sizeof(small)];

	for (size_t i = 0; i < strlen(small); i++) {
		struct ccr_config *c = NULL;

		memcpy(text, small, sizeof(small));
		text[i] = '\xff';
		cr_expect_eq(ccr_config_parse(text, strlen(small), "ccr.json", NULL, &c, &err),
			     CCR_EINVAL, "%zu", i);
		cr_expect_null(c);
	}
}

/* A text with `count` members NAME<i>: 1 in the object between before and after. */
static int parse_many(const char *before, int count, const char *after)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct ccr_config *c = NULL;
	int rc;

	cr_assert_not_null(f);
	fprintf(f, "{\"version\": 1, \"preset\": \"lsf\", %s", before);
	for (int i = 0; i < count; i++)
		fprintf(f, "%s\"n%d\": 1", i ? "," : "", i);
	fprintf(f, "%s}", after);
	fclose(f);
	rc = ccr_config_parse(text, len, "ccr.json", NULL, &c, &err);
	ccr_config_free(c);
	free(text);
	return rc;
}

Test(config, lists_that_are_searched_name_by_name_are_limited, .timeout = 20)
{
	static const struct {
		const char *before, *after, *what;
	} lists[] = {{"\"constants\": {", "}", "constants"},
		     {"\"tiers\": {", "}", "tiers"},
		     {"\"lsf\": {\"user_shares\": {", "}}", "users"},
		     {"\"backfill\": {\"partitions\": {", "}}", "partitions"}};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		cr_expect_eq(parse_many(lists[i].before, 1000, lists[i].after), 0, "%s", err.text);
		cr_expect_eq(parse_many(lists[i].before, 1001, lists[i].after), CCR_EINVAL);
		cr_expect_not_null(strstr(err.text, "expected at most 1000"), "%s", err.text);
		cr_expect_not_null(strstr(err.text, lists[i].what), "%s", err.text);
		/* and the largest file there can be is not read slowly */
		cr_expect_eq(parse_many(lists[i].before, 80000, lists[i].after), CCR_EINVAL);
	}
}

Test(config, out_is_left_alone_on_failure)
{
	struct ccr_config *c = (struct ccr_config *)&err;

	cr_expect_eq(ccr_config_parse("{}", 2, "ccr.json", NULL, &c, NULL), CCR_EINVAL);
	cr_expect_eq((void *)c, (void *)&err);
	ccr_config_free(NULL);
}

static void count_key(const char *section, const char *key, void *data)
{
	int *seen = data;

	cr_expect(strlen(key) > 0);
	seen[0]++;
	seen[1] += !strcmp(section, "") && !strcmp(key, "groups");
	seen[2] += !strcmp(section, "backfill.partitions.*") && !strcmp(key, "strict");
}

Test(config, lists_its_keys)
{
	int seen[3] = {0, 0, 0};

	ccr_config_keys(count_key, seen);
	cr_expect_gt(seen[0], 50);
	cr_expect_eq(seen[1], 1);
	cr_expect_eq(seen[2], 1);
}

Test(config, the_key_of_a_columns_expression)
{
	static const char text[] = "{\"version\": 1, \"job_sort_formula\": \"ncpus\"}";
	struct ccr_config_options o = {.year = 2026};
	struct ccr_config *c = NULL;
	struct ccr_error err = {0};

	cr_assert_eq(ccr_config_parse(text, strlen(text), "ccr.json", &o, &c, &err), CCR_OK, "%s",
		     err.text);
	cr_expect_str_eq(ccr_config_formula_key(c, CCR_COL_JOBSIZE), "job_sort_formula");
	cr_expect_str_eq(ccr_config_formula_key(c, CCR_COL_AGE), "policy.age");
	cr_expect_str_eq(ccr_config_formula_key(c, CCR_COLUMNS), "policy");
	ccr_config_free(c);
}

Test(config, beside_another_priority_plugin_nothing_need_rank)
{
	static const char text[] = "{\"version\": 1, \"backfill\": {\"depth\": 3}}";
	const struct ccr_config_options gate = {.rank_optional = true};
	struct ccr_config *c = NULL;
	struct ccr_error e;

	cr_assert_eq(ccr_config_parse(text, strlen(text), "f", NULL, &c, &e), CCR_EINVAL);
	cr_assert_eq(ccr_config_parse(text, strlen(text), "f", &gate, &c, &e), 0, "%s", e.text);
	cr_expect_eq(c->backfill.depth, 3);
	ccr_config_free(c);
}
