#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# no_state.sh MODULE: it keeps nothing between calls. What the library keeps for a thread or a process
# would else be there twice, with two values.
set -u
export LC_ALL=C
segments=$(readelf -lW "$1") && sections=$(readelf -SW "$1") || exit 1
if echo "$segments" | grep -q ' TLS '; then
  echo "state: $1 has thread-local objects" >&2
  exit 1
fi
# The compiler's own bytes (on arm64 two, which fill a second word), and a count that nothing changes.
most=8
if readelf -hW "$1" | grep -q AArch64; then most=16; fi
size=$(echo "$sections" | sed -n 's/.* \.bss *NOBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
if [ $((0x${size:-0})) -gt "$most" ]; then
  echo "state: $1 has $((0x$size)) bytes in .bss" >&2
  exit 1
fi
