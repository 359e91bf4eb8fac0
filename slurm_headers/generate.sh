#!/bin/sh
# Writes the two headers that Slurm's ./configure would make, by hand, and prints the version.
#   usage: generate.sh SLURM_SOURCE OUT_DIR
# config.h needs little: NDEBUG above all, as without it Slurm's headers call verify_lock(), which
# a distribution's slurmctld does not export.
set -eu
src=${1:?source} out=${2:?out}
[ -f "$src/META" ] || { echo "slurm_headers: $src is no Slurm source tree (no META file)" >&2; exit 1; }
ver=$(awk '$1 == "Version:" {print $2; exit}' "$src/META")
api=$(awk '$1 == "API_CURRENT:" {print $2; exit}' "$src/META")
num=$(echo "$ver" | awk -F'[.-]' '{printf "0x%02x%02x%02x", $1, $2, $3}')
mkdir -p "$out/slurm"
put() { cat >"$1.new"; if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi; }
put "$out/config.h" <<C
#define NDEBUG 1
#define _GNU_SOURCE 1
#define HAVE_SYS_PRCTL_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDINT_H 1
#define HAVE_STRERROR_R 1
#define STRERROR_R_CHAR_P 1
#define SLURM_API_VERSION (($api) << 16)
#define SLURM_VERSION_STRING "$ver"
#define VERSION "$ver"
C
put "$out/slurm/slurm_version.h" <<C
#ifndef SLURM_VERSION_H
#define SLURM_VERSION_H
#define SLURM_VERSION_NUMBER $num
#define SLURM_VERSION_NUM(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define SLURM_VERSION_MAJOR(a) (((a) >> 16) & 0xff)
#define SLURM_VERSION_MINOR(a) (((a) >> 8) & 0xff)
#define SLURM_VERSION_MICRO(a) ((a) & 0xff)
#endif
C
echo "$ver"
