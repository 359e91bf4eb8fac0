#!/bin/sh
# Brings the source of the installed Slurm, exactly that version, Debian's patches applied, into a
# cache outside the tree and prints its folder. The system's own apt configuration is only read:
# lists, sources and cache of the download are private and go away with it.
#   usage: fetch.sh VERSION     VERSION as dpkg has it, e.g. 22.05.8-4+deb12u3
# Exit: 0 folder printed; 1 a line on standard error says what went wrong.
set -eu
die() { echo "slurm_headers: $*" >&2; exit 1; }
full=${1:?version}
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
cat >"$tmp/apt.conf" <<C
Dir::State::lists "$tmp/lists";
Dir::Cache "$tmp/cache";
Dir::Etc::sourcelist "$tmp/sources.list";
Dir::Etc::sourceparts "$tmp/parts";
APT::Sandbox::User "root";
Acquire::Languages "none";
C
export APT_CONFIG="$tmp/apt.conf"
apt-get -qq update >"$tmp/log" 2>&1 || die "apt-get update failed: $(tail -n1 "$tmp/log")"
# The .dsc and .debian parts can be missing for a release that is not this machine's own: the
# original tarball alone is then enough, held against the sha256 of the index.
if (cd "$tmp/src" && apt-get -qq source --download-only "slurm-wlm=$full" >"$tmp/log" 2>&1); then
	(cd "$tmp/src" && dpkg-source --no-check -x ./*.dsc out >"$tmp/log" 2>&1) ||
		die "dpkg-source failed: $(tail -n1 "$tmp/log")"
else
	orig=$(ls "$tmp"/src/*.orig.tar.* "$tmp"/src/partial/*.orig.tar.* 2>/dev/null | head -n1)
	[ -n "$orig" ] || die "no source of slurm-wlm $full to be had ($(tail -n1 "$tmp/log")); give it with -Dslurm_source=DIR"
	sum=$(sha256sum "$orig" | cut -d' ' -f1)
	apt-get indextargets --format '$(FILENAME)' 'Identifier: Sources' |
		xargs -r /usr/lib/apt/apt-helper cat-file 2>/dev/null | grep -q "$sum" ||
		die "$(basename "$orig") does not have the sha256 that the index names"
	mkdir "$tmp/src/out" && tar xf "$orig" -C "$tmp/src/out" --strip-components=1
fi
[ -f "$tmp/src/out/META" ] || die "what came is no Slurm source (no META)"
rm -rf "$dest" && mv "$tmp/src/out" "$dest"
echo "$dest"
