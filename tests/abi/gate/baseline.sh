#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# baseline.sh LIBRARY INCLUDE_DIR BASELINE: locations and architecture stay in it, or abidiff takes
# every type for a private one. What is inside the library stays out.
set -eu
exec abidw --exported-interfaces-only --headers-dir "$2" --no-comp-dir-path --no-corpus-path --out-file "$3" "$1"
