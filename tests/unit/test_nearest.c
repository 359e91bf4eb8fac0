#include <criterion/criterion.h>
#include "core/nearest.h"

static const char *const names[] = {"nodes", "ncpus", "queue_minutes", "usage"};

#define NEAREST(s) ccr_nearest(s, names, 4)

Test(nearest, finds_one_slip_of_each_kind)
{
	cr_assert_str_eq(NEAREST("node"), "nodes");
	cr_assert_str_eq(NEAREST("nodees"), "nodes");
	cr_assert_str_eq(NEAREST("nades"), "nodes");
	cr_assert_str_eq(NEAREST("ondes"), "nodes");
	cr_assert_str_eq(NEAREST("queue_minuets"), "queue_minutes");
	cr_assert_str_eq(NEAREST("que_minute"), "queue_minutes");
	cr_assert_str_eq(NEAREST("NODES"), "nodes");
	cr_assert_str_eq(NEAREST("Queue_Minuets"), "queue_minutes");
}

Test(nearest, suggests_nothing_far_away)
{
	char lng[200];

	cr_assert_null(NEAREST("weather"));
	cr_assert_null(NEAREST(""));
	memset(lng, 'a', sizeof(lng) - 1);
	lng[sizeof(lng) - 1] = 0;
	cr_assert_null(NEAREST(lng));
}
