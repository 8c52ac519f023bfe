#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# pe_needed.sh OBJDUMP DLL: what it asks the loader for; all else is looked for while it runs.
set -u
export LC_ALL=C
headers=$("$1" -p "$2") || exit 1
needed=$(echo "$headers" | sed -n 's/.*DLL Name: //p')
failed=0
for name in $needed; do
  case $name in
    KERNEL32.dll | msvcrt.dll) ;;
    *)
      echo "needed: $2 needs $name, which is not on the list" >&2
      failed=1
      ;;
  esac
done
[ -n "$needed" ] || { echo "needed: $2 needs nothing, which cannot be" >&2; failed=1; }
exit $failed
