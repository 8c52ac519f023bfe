#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# stripped_size.sh LIBRARY STRIP LIMIT_KIB
set -eu
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
"$2" --strip-all -o "$scratch" "$1"
size=$(wc -c <"$scratch")
echo "$1: $size bytes stripped"
if [ "$size" -ge $(($3 * 1024)) ]; then
  echo "size: $size bytes are not below $3 KiB" >&2
  exit 1
fi
