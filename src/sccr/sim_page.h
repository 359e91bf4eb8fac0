/*
 * sim_page - the page's template, from src/sccr/page/: the run's data goes between head and tail
 */
#ifndef SCCR_SIM_PAGE_H
#define SCCR_SIM_PAGE_H

#include <stddef.h>

extern const unsigned char sim_page_head[], sim_page_tail[];
extern const size_t sim_page_head_len, sim_page_tail_len;

#endif
