/*
 * sccr score - a job's score, term by term, under any policy: no cluster needed
 *
 * The product's own core computes it: the number is what squeue would show for such a job.
 */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sccr/common.h"
#include "sccr/options.h"
#include "sccr/outputs.h"
#include "sccr/sccr.h"
#include "sccr/score_inputs.h"
#include "sccr/score_plot.h"

#define ROWS_MAX 100000

struct result {
	int which[SCORE_INPUTS];
	double var[CCR_VAR_COUNT];
	double factor[CCR_COLUMNS];
	struct ccr_score score;
};

struct run {
	struct ccr_config *config;
	struct ccr_policy *policy;
	struct ccr_score_rule rule;
	struct score_inputs in;
	struct sccr_weights weights;
	struct result *row;
	size_t rows;
	bool faults;
	bool cut; /* a score or a column was cut to what Slurm can hold */
};

/* The base sits in SITE: with it, factor times weight are the points. */
static double factor_of(const struct run *r, const struct result *row, int column)
{
	return row->factor[column] + (column == CCR_COL_SITE ? (double)r->rule.base : 0);
}

/* Are the points less than factor times weight, by more than their rounding? */
static bool is_cut(const struct run *r, const struct result *row, int column)
{
	double all = factor_of(r, row, column) * r->rule.weight[column];

	return fabs(all - row->score.points[column]) > 1 + 1e-9 * fabs(all);
}

static const char help[] =
    "usage: sccr score [OPTIONS] NAME=VALUE[,VALUE...]...\n\n"
    "Reads each term of a job's score under a policy. NAME is a variable of the policies\n"
    "(nodes, ncpus, ngpus, mem, walltime, usage, target, ...; ccr.json(5) lists them) or\n"
    "one of: wait (time in the queue), tier, group (of the policy), nice. Times may be\n"
    "written as D-HH:MM:SS, mem with K, M, G or T. Several values, or a range FROM..TO\n"
    "or FROM..TO..STEP, give a table.\n\n"
    "  -p, --policy FILE      a policy file or the name of a preset (default: ccr)\n"
    "  -s, --slurm-conf FILE  weights (default: $SLURM_CONF, /etc/slurm/slurm.conf,\n"
    "                         else the preset's own)\n"
    "  -w, --weights LIST     weights, e.g. jobsize=16,age=1,fairshare=500,assoc=800\n"
    "      --plot FILE        draws the priority over the first variable with several numbers\n"
    "                         (a line for each value of the others) as SVG\n"
    "      --json             the same as JSON\n"
    "  -h, --help\n\n"
    "Exit status: 0 success, 1 bad policy, value or file, 2 wrong use.\n";

/* Every combination of the values given, the last variable running fastest. */
static int compute(struct run *r, struct ccr_error *err)
{
	size_t n = 1;

	for (int i = 0; i < r->in.n_several; i++) {
		n *= (size_t)r->in.var[r->in.order[i]].n;
		if (n > ROWS_MAX)
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "found more than %d combinations of values", ROWS_MAX);
	}
	r->row = calloc(n, sizeof(*r->row));
	if (!r->row)
		return ccr_error_nomem(err);
	r->rows = n;
	for (size_t k = 0; k < n; k++) {
		struct result *row = &r->row[k];
		struct ccr_score_extra extra = {0};
		unsigned faults[CCR_COLUMNS] = {0};
		size_t rest = k;

		for (int i = r->in.n_several - 1; i >= 0; i--) {
			int v = r->in.order[i];

			row->which[v] = (int)(rest % (size_t)r->in.var[v].n);
			rest /= (size_t)r->in.var[v].n;
		}
		extra.nice = (int64_t)score_inputs_nice(&r->in, row->which);
		score_inputs_vars(&r->in, r->config, row->which, row->var);
		ccr_policy_eval(r->policy, row->var, row->factor, faults);
		ccr_score(&r->rule, row->factor, &extra, &row->score);
		for (int i = 0; i < CCR_COLUMNS; i++) {
			r->faults = r->faults || faults[i];
			r->cut = r->cut || row->score.cut || (!faults[i] && is_cut(r, row, i));
		}
	}
	return CCR_OK;
}

/* Variables that any expression reads, with the values that they had. */
static void print_vars(const struct run *r, const struct result *row)
{
	const char *sep = "with ";

	for (int v = 0; v < CCR_VAR_COUNT; v++) {
		if (!ccr_policy_uses(r->policy, (enum ccr_var)v))
			continue;
		printf("%s%s %.10g", sep, ccr_var_info(v)->name, row->var[v]);
		sep = ", ";
	}
	printf("\n\n");
}

static void print_one(const struct run *r, const struct result *row)
{
	print_vars(r, row);
	printf("%-10s %14s   %10s   %14s  %s\n", "COLUMN", "FACTOR", "WEIGHT", "POINTS",
	       "EXPRESSION");
	for (int i = 0; i < CCR_COLUMNS; i++) {
		const char *expr = ccr_policy_expr(r->policy, (enum ccr_column)i);

		if (!strcmp(expr, "0") && row->score.points[i] == 0)
			continue;
		printf("%-10s %14.7g x %10.10g = %14.10g  %s%s\n", sccr_column_title(i),
		       factor_of(r, row, i), r->rule.weight[i], row->score.points[i],
		       sccr_safe(expr).text,
		       i == CCR_COL_SITE && r->rule.base ? ", and the base" : "");
	}
	if (score_inputs_nice(&r->in, row->which) != 0)
		printf("%-10s %46.10g\n", "NICE", -score_inputs_nice(&r->in, row->which));
	printf("%-10s %46u\n", "PRIORITY", row->score.priority);
}

/* A value of what has several, as a word. */
static struct sccr_safe value_of(const struct run *r, const struct result *row, int input)
{
	const struct ccr_group *group = score_inputs_group(&r->in, row->which);
	char text[40];

	if (input == SCORE_GROUP && group)
		return sccr_safe(group->name);
	if (input == CCR_VAR_FINANCIAL && r->in.tier[row->which[input]])
		return sccr_safe(r->in.tier[row->which[input]]);
	snprintf(text, sizeof(text), "%.10g", r->in.var[input].value[row->which[input]]);
	return sccr_safe(text);
}

static void print_table(const struct run *r)
{
	for (int i = 0; i < r->in.n_several; i++)
		printf("%16s ", score_inputs_name(&r->in, r->in.order[i]));
	for (int c = 0; c < CCR_COLUMNS; c++)
		printf("%12s ", sccr_column_title(c));
	printf("%12s\n", "PRIORITY");
	for (size_t k = 0; k < r->rows; k++) {
		for (int i = 0; i < r->in.n_several; i++)
			printf("%16s ", value_of(r, &r->row[k], r->in.order[i]).text);
		for (int c = 0; c < CCR_COLUMNS; c++)
			printf("%12.10g ", r->row[k].score.points[c]);
		printf("%12u\n", r->row[k].score.priority);
	}
}

static void print_json(const struct run *r)
{
	printf("[");
	for (size_t k = 0; k < r->rows; k++) {
		const struct result *row = &r->row[k];

		printf("%s\n{", k ? "," : "");
		if (score_inputs_group(&r->in, row->which)) {
			printf("\"group\": ");
			sccr_json_string(stdout, score_inputs_group(&r->in, row->which)->name);
			printf(", ");
		}
		printf("\"variables\": {");
		for (int v = 0, first = 1; v < CCR_VAR_COUNT; v++) {
			if (!ccr_policy_uses(r->policy, (enum ccr_var)v) && !r->in.var[v].n)
				continue;
			printf("%s\"%s\": %.17g", first ? "" : ", ", ccr_var_info(v)->name,
			       row->var[v]);
			first = 0;
		}
		printf("}, \"columns\": {");
		for (int c = 0; c < CCR_COLUMNS; c++) {
			printf("%s\"%s\": {\"factor\": %.17g, \"weight\": %.17g, \"points\": "
			       "%.17g, \"expression\": ",
			       c ? ", " : "", ccr_column_name(c), factor_of(r, row, c),
			       r->rule.weight[c], row->score.points[c]);
			sccr_json_string(stdout, ccr_policy_expr(r->policy, (enum ccr_column)c));
			printf("}");
		}
		printf("}, \"nice\": %.17g, \"priority\": %u}",
		       score_inputs_nice(&r->in, row->which), row->score.priority);
	}
	printf("\n]\n");
}

/* The first that has several numbers; -1: none, as the names of groups are no numbers. */
static int plotted(const struct run *r)
{
	for (int i = 0; i < r->in.n_several; i++)
		if (r->in.order[i] != SCORE_GROUP)
			return i;
	return -1;
}

static void label_of(const struct run *r, const struct result *row, int axis, char *out,
		     size_t size)
{
	size_t used = 0;

	for (int i = 0; i < r->in.n_several && used < size; i++) {
		int v = r->in.order[i], n = 0;

		if (i != axis)
			n = snprintf(out + used, size - used, "%s%s %s", used ? ", " : "",
				     score_inputs_name(&r->in, v), value_of(r, row, v).text);
		used += n > 0 ? (size_t)n : 0;
	}
	if (!used)
		snprintf(out, size, "priority");
}

/* Draws the priority over what is plotted, one line for each choice of the other values. */
static int plot(const struct run *r, struct sccr_output *picture, struct ccr_error *err)
{
	int at = plotted(r), x = r->in.order[at];
	size_t nx = (size_t)r->in.var[x].n, lines = r->rows / nx, step = 1;
	struct score_line *line = calloc(lines, sizeof(*line));
	double *xy = calloc(2 * r->rows, sizeof(*xy));
	char(*label)[160] = calloc(lines, sizeof(*label));
	int rc = CCR_OK;
	FILE *out = NULL;

	for (int i = at + 1; i < r->in.n_several; i++)
		step *= (size_t)r->in.var[r->in.order[i]].n;
	if (!line || !xy || !label)
		rc = ccr_error_nomem(err);
	else if (!(out = sccr_output_begin(picture, err)))
		rc = CCR_EIO;
	for (size_t l = 0; !rc && l < lines; l++) {
		const struct result *row = &r->row[l / step * nx * step + l % step];

		label_of(r, row, at, label[l], sizeof(label[l]));
		line[l] = (struct score_line){label[l], xy + 2 * l * nx, xy + (2 * l + 1) * nx, nx};
		for (size_t k = 0; k < nx; k++) {
			xy[2 * l * nx + k] = r->in.var[x].value[k];
			xy[(2 * l + 1) * nx + k] = row[k * step].score.priority;
		}
	}
	if (!rc) {
		char axis[120];

		snprintf(axis, sizeof(axis), "%s (%s)", score_inputs_name(&r->in, x),
			 x < CCR_VAR_COUNT ? ccr_var_info((enum ccr_var)x)->unit : "points");
		score_plot(out, r->config->name, axis, "priority", line, lines);
	}
	if (!rc)
		rc = sccr_output_end(picture, err);
	free(line);
	free(xy);
	free(label);
	return rc;
}

static int make(struct run *r, const char *policy, const char *conf, const char *weights,
		char **words, int n, struct ccr_error *err)
{
	struct ccr_policy_spec spec;
	int rc = sccr_policy_load(policy, &r->config, err);

	if (rc)
		return rc;
	ccr_config_policy_spec(r->config, &spec);
	rc = ccr_policy_compile(&spec, &r->policy, err);
	if (!rc)
		rc = sccr_weights_read(&r->weights, conf, weights, err);
	r->in.max_age = r->weights.max_age;
	r->rule.base = r->config->base;
	r->rule.whole = !r->config->exact_points;
	for (int i = 0; i < CCR_COLUMNS; i++)
		r->rule.weight[i] = r->weights.any
					? r->weights.value[i]
					: sccr_usual_weight(r->config->preset, (enum ccr_column)i);
	for (int i = 0; !rc && i < n; i++)
		rc = score_inputs_take(&r->in, r->config, words[i], err);
	if (!rc)
		rc = compute(r, err);
	return rc;
}

static void clear(struct run *r)
{
	score_inputs_free(&r->in);
	ccr_policy_free(r->policy);
	ccr_config_free(r->config);
	free(r->row);
}

/* Weights that nobody gave are said. */
static void say_weights(const struct run *r)
{
	char list[200];
	size_t n = 0;

	if (r->weights.any)
		return;
	for (int i = 0; i < CCR_COLUMNS && n < sizeof(list); i++)
		if (i != CCR_COL_SITE)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s=%.0f", n ? "," : "",
					      ccr_column_name(i), r->rule.weight[i]);
	sccr_say("score",
		 "no weights in a slurm.conf and no --weights: the usual ones are "
		 "taken, %s",
		 list);
}

/* What was given and moves nothing is said, as by simulate. */
static void say_unread(const struct run *r)
{
	for (int v = 0; v < CCR_VAR_COUNT; v++)
		if (r->in.var[v].n && !score_inputs_matter(&r->in, r->policy, (enum ccr_var)v))
			sccr_say("score", "%s is not used: no column of the policy reads it",
				 ccr_var_info(v)->name);
	if (r->in.var[SCORE_GROUP].n && !score_inputs_group_matters(&r->in, r->policy))
		sccr_say("score", "group is not used: no column of the policy reads a target or "
				  "factor of it");
}

/* 0, or the exit status, which is said why. */
static int open_picture(struct sccr_output *picture, const char *policy, const char *conf,
			struct ccr_error *err)
{
	const struct sccr_kept kept[] = {{"the policy", access(policy, F_OK) ? NULL : policy, -1},
					 {"the slurm.conf", conf, -1},
					 {"standard output, where the score goes", NULL, 1}};
	int rc = sccr_outputs_open(picture, 1, kept, sizeof(kept) / sizeof(kept[0]), err);

	if (rc == CCR_EINVAL)
		return sccr_wrong_use("score", "%s", err->text);
	if (rc)
		sccr_say("score", "%s", err->text);
	return rc ? SCCR_BAD : SCCR_OK;
}

int sccr_score(int argc, char **argv)
{
	const char *policy = "ccr", *conf = NULL, *weights = NULL;
	struct sccr_output picture = {.option = "--plot"};
	bool json = false;
	const struct sccr_option options[] = {
	    {"policy", 'p', &policy, NULL},   {"slurm-conf", 's', &conf, NULL},
	    {"weights", 'w', &weights, NULL}, {"plot", 0, &picture.path, NULL},
	    {"json", 0, NULL, &json},	      {0}};
	struct run r = {0};
	struct ccr_error err;
	int rc = sccr_options(argc, argv, options, help), status;

	if (rc != SCCR_GO_ON)
		return rc;
	if (optind == argc)
		return sccr_wrong_use("score", "give at least one NAME=VALUE");
	conf = sccr_find_conf(conf);
	rc = make(&r, policy, conf, weights, argv + optind, argc - optind, &err);
	if (!rc && picture.path && plotted(&r) < 0)
		rc = ccr_error_set(&err, CCR_EINVAL, 0,
				   "--plot: expected a variable with several numbers");
	if (!rc && picture.path) {
		status = open_picture(&picture, policy, conf, &err);
		if (!status)
			rc = plot(&r, &picture, &err);
		sccr_outputs_close(&picture, 1);
		if (status) {
			clear(&r);
			return status;
		}
	}
	if (rc) {
		sccr_say("score", "%s", err.text);
		clear(&r);
		return SCCR_BAD;
	}
	say_weights(&r);
	say_unread(&r);
	if (r.faults)
		sccr_say("score", "a column had no finite value and counts 0 there");
	if (r.cut)
		sccr_say("score", "a score is beyond what Slurm can hold (1 to 4294967295): "
				  "columns are cut to add up to that");
	if (json)
		print_json(&r);
	else if (r.rows == 1)
		print_one(&r, r.row);
	else
		print_table(&r);
	clear(&r);
	return SCCR_OK;
}
