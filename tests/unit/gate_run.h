/*
 * gate_run - runs a world of gate_world through the planner, event by event, and judges it
 *
 * What runs and what is free is kept here once more, and picks are made at random from that, so
 * that the planner is not judged by itself.
 */
#ifndef GATE_RUN_H
#define GATE_RUN_H

#include "gate_world.h"

/* Runs it to the end. True if all promises held; else says what went wrong. */
bool world_run(const struct world *w, char *what, size_t size);

#endif
