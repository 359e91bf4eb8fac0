/* score_plot - see score_plot.h */
#include "sccr/score_plot.h"

#include <math.h>
#include <stdlib.h>

#include "sccr/safe.h"

#define WIDTH  760
#define HEIGHT 440
#define LEFT   80
#define RIGHT  160 /* room for the legend */
#define TOP    48
#define BOTTOM 56

static const char *const colors[] = {"#2f6fde", "#d9622b", "#2a9d64", "#8a56c9",
				     "#b8912a", "#c23b6e", "#3aa0b8", "#6b7280"};

struct axis {
	double low, high, step;
};

/* Round steps of 1, 2 or 5 times a power of ten, about six of them. */
static struct axis make_axis(double low, double high)
{
	struct axis a;
	double raw, power;

	if (!(high > low)) {
		double d = fabs(low) > 0 ? fabs(low) * 0.1 : 1;

		low -= d;
		high += d;
	}
	raw = (high - low) / 6;
	power = pow(10, floor(log10(raw)));
	a.step = raw / power < 1.5   ? power
		 : raw / power < 3.5 ? 2 * power
		 : raw / power < 7.5 ? 5 * power
				     : 10 * power;
	a.low = floor(low / a.step) * a.step;
	a.high = ceil(high / a.step) * a.step;
	return a;
}

static void text(FILE *out, const char *words)
{
	char *safe = sccr_safe_copy(words);

	for (const char *s = safe; s && *s; s++) {
		switch (*s) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*s, out);
		}
	}
	free(safe);
}

static double px(const struct axis *a, double v)
{
	return LEFT + (v - a->low) / (a->high - a->low) * (WIDTH - LEFT - RIGHT);
}

static double py(const struct axis *a, double v)
{
	return HEIGHT - BOTTOM - (v - a->low) / (a->high - a->low) * (HEIGHT - TOP - BOTTOM);
}

static void grid(FILE *out, const struct axis *x, const struct axis *y)
{
	for (int i = 0; y->low + i * y->step <= y->high + y->step / 2; i++) {
		double v = y->low + i * y->step;

		fprintf(out,
			"<line class='g' x1='%d' x2='%d' y1='%.1f' y2='%.1f'/>"
			"<text x='%d' y='%.1f' text-anchor='end'>%.10g</text>\n",
			LEFT, WIDTH - RIGHT, py(y, v), py(y, v), LEFT - 8, py(y, v) + 4,
			fabs(v) < y->step * 1e-9 ? 0 : v);
	}
	for (int i = 0; x->low + i * x->step <= x->high + x->step / 2; i++) {
		double v = x->low + i * x->step;

		fprintf(out, "<text x='%.1f' y='%d' text-anchor='middle'>%.10g</text>\n", px(x, v),
			HEIGHT - BOTTOM + 20, fabs(v) < x->step * 1e-9 ? 0 : v);
	}
}

static void range(const struct score_line *line, size_t n, struct axis *x, struct axis *y)
{
	double lx = INFINITY, hx = -INFINITY, ly = INFINITY, hy = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < line[i].n; k++) {
			lx = fmin(lx, line[i].x[k]);
			hx = fmax(hx, line[i].x[k]);
			ly = fmin(ly, line[i].y[k]);
			hy = fmax(hy, line[i].y[k]);
		}
	}
	*x = make_axis(isfinite(lx) ? lx : 0, isfinite(hx) ? hx : 1);
	*y = make_axis(isfinite(ly) ? ly : 0, isfinite(hy) ? hy : 1);
}

void score_plot(FILE *out, const char *title, const char *x_label, const char *y_label,
		const struct score_line *line, size_t n)
{
	struct axis x, y;

	range(line, n, &x, &y);
	fprintf(out,
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img' "
		"font-family='system-ui,sans-serif' font-size='12'>\n<title>",
		WIDTH, HEIGHT);
	text(out, title);
	fputs("</title>\n<style>svg{background:#fff}text{fill:#1f2937}.g{stroke:#d1d5db}"
	      "@media(prefers-color-scheme:dark){svg{background:#111827}text{fill:#e5e7eb}"
	      ".g{stroke:#374151}}</style>\n",
	      out);
	fprintf(out, "<text x='%d' y='26' font-size='16' font-weight='600'>", LEFT);
	text(out, title);
	fputs("</text>\n", out);
	grid(out, &x, &y);
	fprintf(out, "<text x='%d' y='%d' text-anchor='middle'>", (LEFT + WIDTH - RIGHT) / 2,
		HEIGHT - 14);
	text(out, x_label);
	fprintf(out,
		"</text>\n<text transform='translate(18,%d) rotate(-90)' text-anchor='middle'>",
		(TOP + HEIGHT - BOTTOM) / 2);
	text(out, y_label);
	fputs("</text>\n", out);
	for (size_t i = 0; i < n; i++) {
		const char *color = colors[i % (sizeof(colors) / sizeof(colors[0]))];

		fprintf(out, "<polyline fill='none' stroke='%s' stroke-width='2' points='", color);
		for (size_t k = 0; k < line[i].n; k++)
			fprintf(out, "%.2f,%.2f ", px(&x, line[i].x[k]), py(&y, line[i].y[k]));
		fputs("'/>\n", out);
		for (size_t k = 0; k < line[i].n && line[i].n <= 40; k++)
			fprintf(out, "<circle cx='%.2f' cy='%.2f' r='3' fill='%s'/>\n",
				px(&x, line[i].x[k]), py(&y, line[i].y[k]), color);
		fprintf(out,
			"<rect x='%d' y='%zu' width='12' height='12' fill='%s'/><text x='%d' "
			"y='%zu'>",
			WIDTH - RIGHT + 16, TOP + 20 * i, color, WIDTH - RIGHT + 34,
			TOP + 20 * i + 11);
		text(out, line[i].label);
		fputs("</text>\n", out);
	}
	fputs("</svg>\n", out);
}
