/* explain_nodes - see explain_nodes.h */
#define HASH_NONFATAL_OOM 1
#include "sccr/explain_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "sccr/queue.h"
#include "sccr/sim_hostlist.h"

struct explain_node {
	UT_hash_handle hh;
	char name[];
};

static int add_node(const char *name, void *arg)
{
	struct explain_nodes *set = arg;
	struct explain_node *n = NULL;
	size_t len = strlen(name);

	HASH_FIND(hh, set->list, name, len, n);
	if (n)
		return CCR_OK;
	n = malloc(sizeof(*n) + len + 1);
	if (!n)
		return CCR_ENOMEM;
	memcpy(n->name, name, len + 1);
	HASH_ADD_KEYPTR(hh, set->list, n->name, len, n);
	if (!n->hh.tbl) {
		free(n);
		return CCR_ENOMEM;
	}
	return CCR_OK;
}

int explain_nodes_add(struct explain_nodes *set, const char *hosts, struct ccr_error *err)
{
	int rc = sim_hostlist_each(hosts, add_node, set, err);

	return rc == CCR_ENOMEM ? ccr_error_nomem(err) : rc;
}

static int is_there(const char *name, void *arg)
{
	const struct explain_nodes *set = arg;
	struct explain_node *n = NULL;

	HASH_FIND(hh, set->list, name, strlen(name), n);
	return n ? 1 : 0;
}

bool explain_nodes_share(const struct explain_nodes *set, const char *hosts)
{
	struct explain_nodes *list = (struct explain_nodes *)set; /* it is only looked at */
	struct ccr_error none;

	return sim_hostlist_each(hosts, is_there, list, &none) != 0;
}

void explain_nodes_free(struct explain_nodes *set)
{
	struct explain_node *n, *next;

	HASH_ITER (hh, set->list, n, next) {
		HASH_DEL(set->list, n);
		free(n);
	}
}

void explain_parts_read(struct client_rows *parts)
{
	char format[] = "%R" CLIENT_FIELD "%N" CLIENT_FIELD "%l";
	char *const argv[] = {"sinfo", "-h", "-a", "-o", format, NULL};

	if (client_run_lines(argv, 3, parts, NULL))
		memset(parts, 0, sizeof(*parts));
}

static const char *field_of(const struct client_rows *parts, const char *partition, int field)
{
	for (size_t i = 0; i < parts->n; i++)
		if (!strcmp(parts->row[i][0], partition))
			return parts->row[i][field];
	return NULL;
}

const char *explain_parts_find(const struct client_rows *parts, const char *partition)
{
	return field_of(parts, partition, 1);
}

const char *explain_parts_limit(const struct client_rows *parts, const char *partition)
{
	return field_of(parts, partition, 2);
}

/* sinfo's long form of a state, such as "idle", "mixed-" (booked by backfill) or "drained*". */
static bool is_up(const char *state)
{
	static const char *const ups[] = {"idle", "mixed", "allocated", "completing", "planned"};

	for (size_t i = 0; i < sizeof(ups) / sizeof(ups[0]); i++) {
		size_t n = strlen(ups[i]);

		if (!strncmp(state, ups[i], n) && (!state[n] || !strcmp(state + n, "-")))
			return true;
	}
	return false;
}

void explain_states_of(struct explain_states *s, const struct client_rows *rows)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < rows->n; i++) {
		char **f = rows->row[i];

		if (i && !strcmp(f[0], rows->row[i - 1][0])) /* of another partition */
			continue;
		if (is_up(f[1])) {
			s->up++;
			continue;
		}
		if (!s->not_up++) {
			snprintf(s->first_not_up, sizeof(s->first_not_up), "%s", f[0]);
			snprintf(s->its_state, sizeof(s->its_state), "%s", f[1]);
		}
	}
}

void explain_states_read(struct explain_states *s, const char *hosts)
{
	char *nodes = strdup(hosts), format[] = "%N" CLIENT_FIELD "%T";
	char *const argv[] = {"sinfo", "-h", "-a", "-N", "-n", nodes, "-o", format, NULL};
	struct client_rows rows;

	memset(s, 0, sizeof(*s));
	if (nodes && !client_run_lines(argv, 2, &rows, NULL)) {
		explain_states_of(s, &rows);
		client_rows_free(&rows);
	}
	free(nodes);
}

void explain_reservations_read(struct client_rows *rows)
{
	char *const argv[] = {"scontrol", "-o", "show", "reservation", NULL};

	if (client_run_lines(argv, 1, rows, NULL))
		memset(rows, 0, sizeof(*rows));
}

/* The value of KEY=VALUE in a line, where it is a word; false if it is not there or too long. */
static bool value_of(const char *line, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	for (const char *at = line; (at = strstr(at, key)); at += n) {
		size_t len = strcspn(at + n, " ");

		if ((at != line && at[-1] != ' ') || len >= size)
			continue;
		memcpy(out, at + n, len);
		out[len] = '\0';
		return true;
	}
	return false;
}

bool explain_reservations_find(const struct client_rows *rows, const struct explain_nodes *set,
			       time_t from, time_t to, struct explain_reservation *out)
{
	char nodes[4096];

	for (size_t i = 0; i < rows->n; i++) {
		const char *line = rows->row[i][0];
		time_t t;

		if (!value_of(line, "ReservationName=", out->name, sizeof(out->name)) ||
		    !value_of(line, "StartTime=", out->start, sizeof(out->start)) ||
		    !value_of(line, "EndTime=", out->end, sizeof(out->end)) ||
		    !value_of(line, "Nodes=", nodes, sizeof(nodes)))
			continue;
		t = queue_time(out->end);
		if (t >= from && t <= to && explain_nodes_share(set, nodes))
			return true;
	}
	memset(out, 0, sizeof(*out));
	return false;
}
