# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Every shell script is POSIX and passes shellcheck.
set -eu

cd "$1"
if ! command -v shellcheck >/dev/null; then
  echo "skipped: repo.shellcheck: shellcheck is not installed"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# shellcheck disable=SC2016
printf '#!/bin/sh\necho $1\n[[ a == b ]]\n' >"$scratch/bad"
if shellcheck "$scratch/bad" >/dev/null; then
  echo "shellcheck does not report a bad script"
  exit 1
fi

find . \( -name 'build*' -o -name .git -o -name __pycache__ \) -prune -o -type f -print |
  while IFS= read -r file; do
    case $file in
      *.bash | *.py) continue ;;
      *.sh) echo "$file" ;;
      *) if head -c 9 "$file" | grep -qa '^#!/bin/sh'; then echo "$file"; fi ;;
    esac
  done >"$scratch/scripts"
[ -s "$scratch/scripts" ]
if grep -rlE '^#!.*\bbash' --include='*' scripts .ci tests; then
  echo "these need bash"
  exit 1
fi
xargs shellcheck -x <"$scratch/scripts"
