/*
 * sim_html - the picture: one self-contained page of a run
 */
#ifndef SCCR_SIM_HTML_H
#define SCCR_SIM_HTML_H

#include <json-c/json.h>

#include "sccr/sim_record.h"

struct sim_html {
	const char *path;
	const char *title;
	const char *policy; /* in words, for the heading */
	int depth;	    /* bookings a partition, -1: no number */
};

/*
 * Writes the page of the run s (its record, workload and scorer are read), with the figures of all
 * runs. 0, or CCR_EIO with the system's reason.
 */
int sim_html_write(const struct sim_html *h, const struct sim *s, json_object *runs,
		   struct ccr_error *err);

#endif
