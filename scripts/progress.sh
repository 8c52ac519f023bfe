# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Sourced by run and test. show_progress WORDS LOG writes the lines of ninja or of ctest to LOG, and shows their progress
# after WORDS on a terminal, unless quiet=yes.

show_progress() {
  is_shown=
  while IFS= read -r line; do
    printf '%s\n' "$line"
    if [ "${quiet:-no}" = yes ] || ! [ -t 2 ]; then continue; fi
    case $line in
      \[*/*\]\ *)
        step=${line#?}
        step=${step%%]*}
        ;;
      *[0-9]/[0-9]*\ Test\ *\#*)
        step=${line%% Test *}
        step=${step##* }
        ;;
      *) continue ;;
    esac
    is_shown=yes
    printf '\r%s %s\033[K' "$1" "$step" >&2
  done >"$2"
  if [ -n "$is_shown" ]; then printf '\r\033[K' >&2; fi
}
