/*
 * sim_report - the figures of one or several runs as text, JSON and CSV
 *
 * All three come from one table (sim_report_json): what the text and the page show is what the JSON
 * says.
 */
#ifndef SCCR_SIM_REPORT_H
#define SCCR_SIM_REPORT_H

#include <json-c/json.h>
#include <stdio.h>

#include "sccr/sim_figures.h"
#include "sccr/sim_workload.h"

/* One run's figures as a JSON object; NULL: out of memory. Frees nothing of f; medians sort it. */
json_object *sim_report_json(struct sim_figures *f, const struct sim_workload *w,
			     const char *scheduler);

/* runs: a JSON array of such objects. */
void sim_report_text(FILE *out, json_object *runs);

/* A line for each run, class and figure: scheduler,class,figure,value. */
void sim_report_csv(FILE *out, json_object *runs);

#endif
