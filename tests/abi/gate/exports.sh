#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# exports.sh LIBRARY LIST: exactly the listed functions with their symbol versions, and no data.
set -u
export LC_ALL=C
exported=$(nm -D --defined-only --with-symbol-versions "$1") || exit 1
# An absolute symbol stands for the version node itself.
if ! echo "$exported" | awk '$2 == "T" {print $3} $2 != "T" && $2 != "A" {print $2, $3}' | sort |
  diff -u "$2" -; then
  echo "exports: $1 does not export exactly what $2 lists" >&2
  exit 1
fi
