#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# static_names.sh ARCHIVE: what it defines cannot collide with a program's own names, and nothing in
# it registers what runs at exit.
set -u
export LC_ALL=C
if nm --defined-only --extern-only "$1" |
  awk '$2 ~ /^[TDBRC]$/ && $3 !~ /^(hmn_|__x86[.]get_pc_thunk[.]|_ZN?K?[A-Z]*N?K?3hmn|_ZN3hmn|_ZNK3hmn|_ZT[A-Z]*N?3hmn)/ {print $3; bad = 1} END {exit !bad}'; then
  echo "static names: $1 defines the above outside hmn_ and hmn::" >&2
  exit 1
fi
if nm --undefined-only "$1" | grep -E ' (__cxa_atexit|__cxa_thread_atexit|atexit|on_exit)$'; then
  echo "static names: $1 registers what runs at exit" >&2
  exit 1
fi
