#include <criterion/criterion.h>

#include "core/remind.h"

Test(remind, says_it_at_first_and_every_hour)
{
	static const struct {
		time_t now;
		unsigned long count;
		bool said;
	} turn[] = {
	    {1000, 0, false}, {1060, 3, true},	{1120, 3, false}, {1180, 9, false},
	    {4659, 1, false}, {4660, 1, true},	{4720, 1, false}, {8259, 2, false},
	    {8261, 2, true},  {8300, 0, false}, {8360, 1, true}, /* anew */
	    {8420, 1, false}, {7000, 1, true},			 /* the clock was set back */
	    {7060, 1, false}, {7120, 0, false}, {7180, 0, false}, {100000, 0, false},
	};
	struct ccr_remind r = {0};

	for (size_t i = 0; i < sizeof(turn) / sizeof(turn[0]); i++)
		cr_expect_eq(ccr_remind(&r, turn[i].count, turn[i].now), turn[i].said,
			     "turn %zu at %lld", i, (long long)turn[i].now);
}
