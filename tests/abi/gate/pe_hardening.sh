#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# pe_hardening.sh OBJDUMP DLL: it can lie anywhere, its data is no code, and it has no time of its making.
set -u
export LC_ALL=C
headers=$("$1" -p "$2") && sections=$("$1" -h "$2") || exit 1
failed=0
for flag in HIGH_ENTROPY_VA DYNAMIC_BASE NX_COMPAT; do
  if ! echo "$headers" | grep -q "$flag"; then
    echo "hardening: $2 lacks $flag" >&2
    failed=1
  fi
done
echo "$sections" | grep -q '\.reloc' || { echo "hardening: $2 cannot be moved" >&2; failed=1; }
echo "$headers" | grep -qE '^Time/Date.*1970' || { echo "hardening: $2 holds a time" >&2; failed=1; }
exit $failed
