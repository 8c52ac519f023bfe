#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# abidiff.sh LIBRARY INCLUDE_DIR BASELINE BASELINE_INCLUDE_DIR SUPPRESSIONS
# Any difference fails: libabigail gives harmless and breaking ones the same exit code, so a baseline
# is refreshed in the commit that explains why.
set -u
library=$1 include=$2 baseline=$3 baseline_include=$4 suppressions=$5
if [ ! -s "$baseline" ]; then
  echo "abidiff: there is no baseline $baseline" >&2
  exit 1
fi
if [ -s "$suppressions" ]; then
  echo "abidiff: $suppressions is not empty; a suppression can hide a swapped field" >&2
  exit 1
fi
# abidiff 2.2 calls a library without debug info unchanged.
if ! readelf -SW "$library" | grep -q '\.debug_info'; then
  echo "abidiff: $library has no debug info" >&2
  exit 1
fi
exec abidiff --exported-interfaces-only --fail-no-debug-info --suppressions "$suppressions" \
  --headers-dir1 "$baseline_include" --headers-dir2 "$include" "$baseline" "$library"
