#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# pe_layout.sh COMPILER INCLUDE_DIR LAYOUT...: frozen layouts hold for a client of the DLL and for one of
# the archive.
set -u
compiler=$1 include=$2
shift 2
failed=0
for layout in "$@"; do
  for define in HMN_CLIENT HMN_STATIC; do
    "$compiler" -std=c11 -Wall -Wextra -pedantic -Wpadded -Werror -D$define -I"$include" \
      -fsyntax-only "$layout" || failed=1
  done
done
exit $failed
