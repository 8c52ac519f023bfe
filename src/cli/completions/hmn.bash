# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=bash
# bash completion for hmn

_hmn_command() {
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --timeout | --machine | --color | --pid | --device | --sort | --match) ((i++)) ;;
      ps | snapshot | doctor)
        echo "${COMP_WORDS[i]}"
        return
        ;;
    esac
  done
}

# The machine file that stands on the line, if any: it has the devices to complete.
_hmn_machine() {
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == --machine ]]; then
      printf -- '--machine\n%s\n' "${COMP_WORDS[i + 1]}"
      return
    fi
  done
}

_hmn_numbers_of() {
  local machine=()
  mapfile -t machine < <(_hmn_machine)
  "${COMP_WORDS[0]}" "${@:2}" --json --timeout 2s "${machine[@]}" 2>/dev/null |
    grep -o "[{,]\"$1\":[0-9]*" | grep -o '[0-9]*$' | sort -nu
}

_hmn_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_hmn() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command
  local common="--help --timeout --machine --color --trace -h"
  command=$(_hmn_command)
  COMPREPLY=()

  case $previous in
    --color) _hmn_words "auto always never" "$word" ;;
    --timeout) _hmn_words "1s 10s 60s 5m" "$word" ;;
    --machine)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      ;;
    --sort) _hmn_words "vram shared total ram pid name" "$word" ;;
    --device) _hmn_words "$(_hmn_numbers_of index)" "$word" ;;
    --pid) _hmn_words "$(_hmn_numbers_of pid ps)" "$word" ;;
    --match) ;;
    *)
      case $command in
        ps) _hmn_words "--pid --device --sort --match --json $common" "$word" ;;
        snapshot | doctor) _hmn_words "$common" "$word" ;;
        *) _hmn_words "ps snapshot doctor --json --version -V $common" "$word" ;;
      esac
      ;;
  esac
}

complete -F _hmn hmn
