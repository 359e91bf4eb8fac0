#include <criterion/criterion.h>

#include "core/ids.h"
#include "oom.h"

Test(ids, has_what_was_added_and_nothing_else)
{
	struct ccr_ids ids = {0};

	cr_assert_not(ccr_ids_has(&ids, 1));
	cr_assert_not(ccr_ids_has(&ids, 0));
	for (uint32_t i = 1; i < 30000; i += 3) {
		ccr_ids_add(&ids, i);
		ccr_ids_add(&ids, i);
	}
	for (uint32_t i = 1; i < 30000; i++)
		cr_assert_eq(ccr_ids_has(&ids, i), i % 3 == 1, "%u", i);
	cr_assert_not(ccr_ids_has(&ids, 0));
	cr_assert_not(ccr_ids_has(&ids, 67043328));
	ccr_ids_clear(&ids);
	cr_assert_not(ccr_ids_has(&ids, 1));
	ccr_ids_add(&ids, UINT32_MAX);
	cr_assert(ccr_ids_has(&ids, UINT32_MAX));
	ccr_ids_clear(&ids);
}

/* Ids that differ by a large power of two, as those of several clusters might: no one of them lost.
 */
Test(ids, ids_that_fall_into_one_place)
{
	struct ccr_ids ids = {0};

	for (uint32_t i = 0; i < 60; i++)
		ccr_ids_add(&ids, 5 + (i << 26));
	for (uint32_t i = 0; i < 60; i++)
		cr_assert(ccr_ids_has(&ids, 5 + (i << 26)));
	cr_assert_not(ccr_ids_has(&ids, 6));
	ccr_ids_clear(&ids);
}

Test(ids, without_memory_it_has_every_id)
{
	struct ccr_ids ids = {0};

	ccr_ids_add(&ids, 7);
	oom_fail_at(1);
	for (uint32_t i = 1; i < 1000; i++)
		ccr_ids_add(&ids, i);
	cr_assert(oom_end());
	cr_assert(ccr_ids_has(&ids, 7));
	cr_assert(ccr_ids_has(&ids, 123456));
	ccr_ids_clear(&ids);
	cr_assert_not(ccr_ids_has(&ids, 7));
	oom_fail_at(1);
	ccr_ids_add(&ids, 7);
	cr_assert(oom_end());
	cr_assert(ccr_ids_has(&ids, 8));
	ccr_ids_clear(&ids);
}
