/*
 * score_plot - lines of a score as a picture in SVG
 */
#ifndef SCCR_SCORE_PLOT_H
#define SCCR_SCORE_PLOT_H

#include <stddef.h>
#include <stdio.h>

struct score_line {
	const char *label;
	const double *x, *y;
	size_t n;
};

/* Draws all lines over common axes. Text is escaped; readable in light and dark. */
void score_plot(FILE *out, const char *title, const char *x_label, const char *y_label,
		const struct score_line *line, size_t n);

#endif
