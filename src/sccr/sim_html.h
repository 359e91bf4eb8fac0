/*
 * sim_html - the picture: one self-contained page of a run
 */
#ifndef SCCR_SIM_HTML_H
#define SCCR_SIM_HTML_H

#include <json-c/json.h>
#include <stdio.h>

#include "sccr/sim_record.h"

struct sim_html {
	const char *title;
	const char *policy; /* in words, for the heading */
	int depth;	    /* bookings a partition, -1: no number */
};

/*
 * Writes the page of the run s (its record, workload and scorer are read), with the figures of all
 * runs. The caller looks for errors of out.
 */
void sim_html_write(FILE *out, const struct sim_html *h, const struct sim *s, json_object *runs);

#endif
