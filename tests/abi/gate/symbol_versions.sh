#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# symbol_versions.sh LIBRARY LIMITS [static-runtime]: the newest version of each runtime that the
# library asks for.
set -u
export LC_ALL=C
names=$(readelf -VW "$1" | sed -n 's/.*Name: \([^ ]*\)  Flags: .*/\1/p' | sort -u)
versions=$(echo "$names" | sed -n 's/^\([A-Z]*\)_\([0-9.]*\)$/\1 \2/p')
[ -n "$versions" ] || { echo "symbol versions: $1 has none" >&2; exit 1; }
failed=0
# Such as GLIBC_ABI_DT_RELR, which glibc has from 2.36 on.
marks=$(echo "$names" | grep -vE '^[A-Z]*_[0-9.]*$')
if [ -n "$marks" ]; then
  echo "symbol versions: needed, and not a number that has a limit: $marks" >&2
  failed=1
fi
check() { # runtime version
  limit=$(awk -v runtime="$1$mode" '$1 == runtime {print $2}' "$limits")
  if [ -z "$limit" ]; then
    echo "symbol versions: $1_$2 is needed, and $limits knows no $1" >&2
    return 1
  fi
  newest=$(printf '%s\n%s\n' "$2" "$limit" | sort -V | tail -n 1)
  if [ "$newest" != "$limit" ]; then
    echo "symbol versions: $1_$2 is needed, the limit is $1_$limit, by:" >&2
    nm -D --undefined-only --with-symbol-versions "$library" | grep -F "@$1_$2" >&2
    return 1
  fi
}
library=$1 limits=$2 mode=${3:+:$3}
while read -r runtime version; do
  check "$runtime" "$version" || failed=1
done <<END
$versions
END
exit $failed
