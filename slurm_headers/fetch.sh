#!/bin/sh
# Brings the source of the installed Slurm, exactly that version, Debian's patches applied, into a
# cache outside the tree and prints its folder. The system's own apt configuration is only read:
# lists, sources and cache of the download are private and go away with it.
#   usage: fetch.sh VERSION [SUITE]     VERSION as dpkg has it, e.g. 22.05.8-4+deb12u3; SUITE is
#                                       another Debian release than this machine's, e.g. trixie
# Exit: 0 folder printed; 1 a line on standard error says what went wrong.
set -eu
die() { echo "slurm_headers: $*" >&2; exit 1; }
full=${1:?version} suite=${2:-}
up=${full%-*} up=${up#*:}
cache=${CCR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/slurm-ccr}
dest=$cache/slurm-$full
if [ -f "$dest/META" ]; then echo "$dest"; exit 0; fi
command -v apt-get >/dev/null || die "no apt-get here; give the source tree of Slurm $up with -Dslurm_source=DIR"
command -v dpkg-source >/dev/null || die "dpkg-source is missing (apt-get install dpkg-dev)"
mkdir -p "$cache"
tmp=$(mktemp -d "$cache/fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/parts" "$tmp/src"

# Every binary source that the system uses, asked for its sources as well.
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
	sed -n 's/^deb[[:space:]]/deb-src /p' >"$tmp/sources.list" || :
for f in /etc/apt/sources.list.d/*.sources; do
	[ -f "$f" ] && { sed 's/^Types:.*/Types: deb-src/' "$f" >"$tmp/parts/$(basename "$f")"; }
done
if [ -n "$suite" ]; then
	# The same mirror's other release; security first: a security upload's source may be there only.
	mirror=$(cat "$tmp/sources.list" "$tmp"/parts/* 2>/dev/null | tr ' \t' '\n\n' |
		grep '^http.*/debian/*$' | head -n1)
	[ -n "$mirror" ] || die "this machine's apt names no Debian mirror to ask for $suite"
	rm -f "$tmp"/parts/*
	printf 'deb-src %s-security %s-security main\ndeb-src %s %s main\n' \
		"${mirror%/}" "$suite" "${mirror%/}" "$suite" >"$tmp/sources.list"
fi
cat >"$tmp/apt.conf" <<C
Dir::State::lists "$tmp/lists";
Dir::Cache "$tmp/cache";
Dir::Etc::sourcelist "$tmp/sources.list";
Dir::Etc::sourceparts "$tmp/parts";
APT::Sandbox::User "root";
Acquire::Languages "none";
C
export APT_CONFIG="$tmp/apt.conf"
get() { # downloads what of the source package can be had; true if that is all of it
	apt-get -qq update >"$tmp/log" 2>&1 || die "apt-get update failed: $(tail -n1 "$tmp/log")"
	(cd "$tmp/src" && apt-get -qq source --download-only "slurm-wlm=$full" >"$tmp/log" 2>&1)
}
# A part of it as the index of sources names it: apt holds it against its sha256, so do we.
part() {
	local file
	file=$(find "$tmp/src" -maxdepth 1 -name "$1" | head -n1)
	[ -n "$file" ] || return 1
	apt-get indextargets --format '$(FILENAME)' 'Identifier: Sources' |
		xargs -r /usr/lib/apt/apt-helper cat-file 2>/dev/null |
		grep -q "$(sha256sum "$file" | cut -d' ' -f1)" ||
		die "$(basename "$file") does not have the sha256 that the index names"
	echo "$file"
}
if get; then
	(cd "$tmp/src" && dpkg-source --no-check -x ./*.dsc out >"$tmp/log" 2>&1) ||
		die "dpkg-source failed: $(tail -n1 "$tmp/log")"
else
	# The .dsc can be missing, and the other parts can lie in different archives: each alone.
	if [ -n "$suite" ]; then
		cp "$tmp/sources.list" "$tmp/all"
		while read -r line; do echo "$line" >"$tmp/sources.list"; get || :; done <"$tmp/all"
		cp "$tmp/all" "$tmp/sources.list"
		apt-get -qq update >"$tmp/log" 2>&1 || :
	fi
	orig=$(part '*.orig.tar.*') || die "no source of slurm-wlm $full to be had ($(tail -n1 "$tmp/log")); give it with -Dslurm_source=DIR"
	mkdir "$tmp/src/out" && tar xf "$orig" -C "$tmp/src/out" --strip-components=1
	if patches=$(part '*.debian.tar.*'); then
		tar xf "$patches" -C "$tmp/src/out"
		sed 's/#.*//; /^[[:space:]]*$/d' "$tmp/src/out/debian/patches/series" | while read -r name _; do
			patch -s -p1 -d "$tmp/src/out" <"$tmp/src/out/debian/patches/$name" >"$tmp/log" 2>&1 ||
				die "Debian's patch $name does not apply: $(tail -n1 "$tmp/log")"
		done
	else
		echo "slurm_headers: Debian's patches for $full cannot be had; its headers are used without" >&2
	fi
fi
[ -f "$tmp/src/out/META" ] || die "what came is no Slurm source (no META)"
rm -rf "$dest" && mv "$tmp/src/out" "$dest"
echo "$dest"
