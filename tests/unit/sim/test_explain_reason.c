/* Every reason that a Slurm of 22.05 to 26.05 gives has words; what is none of them claims nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "sccr/explain_reason.h"

#define SAYS(reason, held, wanted, part)                                                           \
	do {                                                                                       \
		char words_[400];                                                                  \
		enum explain_kind kind_ = explain_reason(reason, held, words_, sizeof(words_));    \
		cr_expect_eq(kind_, wanted, "%s: kind %d", reason, kind_);                         \
		cr_expect_not_null(strstr(words_, part), "%s: %s", reason, words_);                \
	} while (0)

/* tests/golden/reasons.txt; tests/cluster/test_sccr.py holds it against the library at hand. */
Test(explain_reason, every_name_has_words)
{
	FILE *f = fopen(CCR_TESTS_DIR "/golden/reasons.txt", "r");
	char name[100], words[400];
	size_t n = 0;

	cr_assert(f);
	while (fgets(name, sizeof(name), f)) {
		enum explain_kind kind;

		name[strcspn(name, "\n")] = '\0';
		kind = explain_reason(name, false, words, sizeof(words));
		cr_expect_neq(kind, KIND_UNKNOWN, "%s", name);
		cr_expect_eq(kind == KIND_TURN || kind == KIND_NODES, !words[0], "%s: %s", name,
			     words);
		/* out of the running, it is held whatever the reason */
		kind = explain_reason(name, true, words, sizeof(words));
		cr_expect_eq(kind, KIND_HELD, "%s", name);
		n++;
	}
	fclose(f);
	cr_expect_geq(n, 218);
}

Test(explain_reason, who_may_let_a_held_job_go)
{
	SAYS("JobHeldUser", true, KIND_HELD, "`scontrol release` lets it go");
	SAYS("JobHeldAdmin", true, KIND_HELD, "only an operator or administrator can release it");
	SAYS("JobHoldMaxRequeue", true, KIND_HELD, "only an operator or administrator");
	SAYS("job_requeued_in_held_state", true, KIND_HELD, "requeued to be held");
	SAYS("job requeued in special exit state", true, KIND_HELD, "an exit code that holds it");
	SAYS("launch failed requeued held", true, KIND_HELD, "could not be launched");
	SAYS("Reservation maint was deleted", true, KIND_HELD, "its reservation was deleted");
	SAYS("Reservation_maint_is_invalid", false, KIND_OTHER, "is not valid");
	SAYS("Priority", true, KIND_HELD, "its priority is 0");
	SAYS("Licenses", true, KIND_HELD, "until it is released; besides, licences");
	SAYS("burst_buffer/lua: x: failed", true, KIND_HELD, "its priority is 0");
}

Test(explain_reason, a_name_is_not_taken_for_one_that_it_begins_with)
{
	SAYS("Dependency", false, KIND_OTHER, "it waits for another job");
	SAYS("DependencyNeverSatisfied", false, KIND_OTHER, "it will never start: cancel it");
	SAYS("PartitionDown", false, KIND_CLOSED, "its partition is down");
	SAYS("PartitionTimeLimit", false, KIND_REFUSED, "longer than its partition allows");
	SAYS("Reservation", false, KIND_OTHER, "the reservation that it is in");
	SAYS("RaisedSignal:9(Killed)", false, KIND_OTHER, "by a signal");
	SAYS("Priority, would delay a booking", false, KIND_TURN, "");
	SAYS("ReqNodeNotAvail, UnavailableNodes:n1", false, KIND_NODES, "");
}

Test(explain_reason, a_limit_says_whose_it_is_and_of_what)
{
	SAYS(
	    "AssocGrpCPURunMinutesLimit", false, KIND_OTHER,
	    "a limit of its association (or one above it): CPUs, times minutes left to run, of all "
	    "jobs together;");
	SAYS("QOSMaxGRESPerUser", false, KIND_OTHER,
	     "a limit of its QOS: GPUs or other GRES, of one user's jobs;");
	SAYS("QOSMaxJobsPerUserLimit", false, KIND_OTHER, "QOS: jobs, of one user's jobs;");
	SAYS("MaxJobsPerAccount", false, KIND_OTHER, "QOS: jobs, of one account's jobs;");
	SAYS("MaxGRESRunMinsPerUser", false, KIND_OTHER,
	     "GRES, times minutes left to run, of one user's jobs;");
	SAYS("QOSMinCpuNotSatisfied", false, KIND_OTHER,
	     "the lower limit of its QOS: CPUs, which it does not reach;");
}

Test(explain_reason, what_is_not_known_claims_nothing)
{
	SAYS("SomethingOfTomorrow", false, KIND_UNKNOWN, "");
	SAYS("AssocGrpSomethingNew", false, KIND_UNKNOWN, "");
	SAYS("Maximum", false, KIND_UNKNOWN, "");
	SAYS("Priority of the day", false, KIND_UNKNOWN, "");
	SAYS("", false, KIND_UNKNOWN, "");
}
