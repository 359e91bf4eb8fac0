/*
 * ledger_print - writes a ledger as the text that ledger_json reads
 *
 * One line an entry. Numbers have the fewest of 15, 16 or 17 digits that read back as the same
 * double, so that what is read is what was written, bit for bit; the text is the same under every
 * locale.
 */
#ifndef CCR_CORE_LEDGER_PRINT_H
#define CCR_CORE_LEDGER_PRINT_H

#include <stdio.h>

#include "core/ledger.h"

/* Writes the ledger with its check to f, which stays open. CCR_EIO or CCR_ENOMEM. */
int ccr_ledger_print(const struct ccr_ledger *l, FILE *f, struct ccr_error *err);

#endif
