#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# pe_exports.sh OBJDUMP DLL LIST NAME: exactly the listed functions, under the name that clients ask for.
set -u
export LC_ALL=C
headers=$("$1" -p "$2") || exit 1
table=$(echo "$headers" | sed -n '/\[Ordinal\/Name Pointer\] Table/,/^$/p' | sed 1d)
exported=$(echo "$table" | awk 'NF {print $NF}' | sort)
wanted=$(grep '^hmn_' "$3" | sed 's/@.*//' | sort)
if [ -z "$wanted" ] || [ "$exported" != "$wanted" ]; then
  echo "exports: $2 does not export exactly what $3 lists:" >&2
  printf '%s\n%s\n' "$exported" "$wanted" | sort | uniq -u >&2
  exit 1
fi
name=$(echo "$headers" | awk '$1 == "Name" && NF == 3 {print $3}')
if [ "$name" != "$4" ]; then
  echo "exports: $2 calls itself $name, not $4" >&2
  exit 1
fi
