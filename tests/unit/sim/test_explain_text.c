/* What sccr explain says, without a cluster: the text is made of what was gathered. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/explain.h"

/*
 * The text for a job of the group "physics" (target 25 %) at that usage, which has 3 points of
 * FAIRSHARE.
 */
static char *explained(const char *policy, double usage, enum explain_policy whose, double weight)
{
	static const char form[] =
	    "{\"version\": 1, %s, \"groups\": {\"physics\": {\"target\": 25}}}";
	struct queue queue = {.n = 0, .weight = {[CCR_COL_FAIRSHARE] = weight, [CCR_COL_SITE] = 1}};
	struct queue_job job = {.id = "7",
				.state = "PENDING",
				.partition = "p",
				.user = "ada",
				.account = "physics",
				.name = "n",
				.nodes = "",
				.start = "",
				.end = "",
				.terms = {.found = true, .points = {[CCR_COL_FAIRSHARE] = 3}}};
	struct explain x = {.queue = &queue,
			    .job = &job,
			    .usage_known = true,
			    .usage = usage,
			    .eligible_s = -1,
			    .policy = whose,
			    .policy_name = "other.json",
			    .plan = PLAN_NONE};
	struct ccr_config *config = NULL;
	struct ccr_error err = {0};
	char text[400], *out = NULL;
	size_t size;
	FILE *f;

	snprintf(text, sizeof(text), form, policy);
	cr_assert_eq(ccr_config_parse(text, strlen(text), "p.json", NULL, &config, &err), 0, "%s",
		     err.text);
	x.config = config;
	x.group = config->groups.list[0];
	x.target = x.group->target;
	f = open_memstream(&out, &size);
	cr_assert(f);
	explain_print(&x, f);
	fclose(f);
	ccr_config_free(config);
	return out;
}

static void says(const char *policy, double usage, const char *line)
{
	char *text = explained(policy, usage, POLICY_THEIRS, 500);

	cr_expect_not_null(strstr(text, line), "%s\nexpected: %s", text, line);
	free(text);
}

Test(explain_text, a_distance_moves_jobs_where_the_policy_has_it_alone)
{
	says("\"preset\": \"ccr\"", 5,
	     "usage 5.00 %: 20.00 points below its target, which raises its jobs. Financial");
	says("\"preset\": \"ccr\"", 30,
	     "usage 30.00 %: 5.00 points above its target, which lowers its jobs. Financial");
	says("\"policy\": {\"site\": \"2 * fs_delta\"}", 25,
	     "0.00 points below its target, which does not move its jobs. Financial");
	says("\"preset\": \"aqua\"", 5, "usage 5.00 %: 20.00 points below its target. Financial");
	says("\"policy\": {\"age\": \"target - usage\"}", 30,
	     "usage 30.00 %: 5.00 points above its target. Financial");
}

Test(explain_text, a_column_without_weight_moves_nothing)
{
	char *text = explained("\"preset\": \"ccr\"", 30, POLICY_THEIRS, 0);

	cr_expect_not_null(strstr(text, "5.00 points above its target. Financial"), "%s", text);
	free(text);
}

Test(explain_text, numbers_of_one_policy_are_not_labelled_with_another)
{
	char *text = explained("\"preset\": \"ccr\"", 30, POLICY_OTHER, 500);

	cr_expect_not_null(
	    strstr(text, "Priority 0, by the cluster's own policy and not by other.json:\n"), "%s",
	    text);
	cr_expect_null(strstr(text, "fs_delta"), "%s", text);
	cr_expect_not_null(strstr(text, "By other.json: Group physics: target 25 %"), "%s", text);
	cr_expect_null(strstr(text, "its jobs"), "%s", text);
	free(text);
	text = explained("\"preset\": \"ccr\"", 30, POLICY_UNSURE, 500);
	cr_expect_not_null(strstr(text, "(the expressions are those of other.json, which the "
					"cluster may not use):\n"),
			   "%s", text);
	cr_expect_not_null(strstr(text, "fs_delta"), "%s", text);
	cr_expect_null(strstr(text, "its jobs"), "%s", text);
	free(text);
}
