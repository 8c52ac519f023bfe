# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# mandoc reports nothing for the manual pages.
set -eu

cd "$1"
if ! command -v mandoc >/dev/null; then
  echo "skipped: repo.mandoc: mandoc is not installed"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

printf '.Dd January 1, 2030\n.Dt BAD 1\n.Os\n.Sh NAME\n.Xx\n' >"$scratch/bad.1"
if mandoc -T lint -W warning "$scratch/bad.1" >/dev/null; then
  echo "mandoc does not report a bad page"
  exit 1
fi
mandoc -T lint -W warning docs/man/*.[13]
