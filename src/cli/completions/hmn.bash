# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=bash
# bash completion for hmn

_hmn_command() {
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --timeout | --machine | --color | --pid | --device | --sort | --by | --match | --columns | --interval | --count | --duration | --record | --plot | --output | --free | --top | --context | --batch | --ubatch | --kv-type | --user | --listen | --web-config | --max-age | --textfile | --per | --compat) ((i++)) ;;
      top | ps | snapshot | log | metrics | fit | run | spill | watch | wait | exporter | doctor | record-machine | help | version)
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

# Prints the index of the first word of the command that hmn is to run, if the cursor is there.
_hmn_inner() {
  local i seen=
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) [[ ! $seen ]] || echo $((i + 1)); return ;;
      --timeout | --machine | --color | --device | --interval | --record | --plot | --output | --free) ((i++)) ;;
      -*) ;;
      *)
        [[ ! $seen ]] || { echo "$i"; return; }
        case ${COMP_WORDS[i]} in run | spill | wait) seen=${COMP_WORDS[i]} ;; *) return ;; esac
        ;;
    esac
  done
  [[ ! $seen || $i -ne $COMP_CWORD || -z ${COMP_WORDS[i]} || ${COMP_WORDS[i]} == -* ]] || echo "$i"
}

# Completes as the command itself does.
_hmn_run_command() {
  local word=${COMP_WORDS[COMP_CWORD]}
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$word" | sort -u)
  else
    _hmn_files "$word"
  fi
}

_hmn_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_hmn_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_hmn() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command
  local common="--help --timeout --machine --color --trace -h"
  command=$(_hmn_command)
  COMPREPLY=()
  local inner
  inner=$(_hmn_inner)
  if [[ $inner ]]; then
    _hmn_run_command "$inner"
    return
  fi

  case $previous in
    --color) _hmn_words "auto always never" "$word" ;;
    --timeout) _hmn_words "1s 10s 60s 5m" "$word" ;;
    --machine)
      _hmn_files "$word"
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation" -- "$word")
      ;;
    --sort) _hmn_words "vram shared total ram pid name" "$word" ;;
    --device)
      _hmn_words "$([[ $command != fit ]] || echo all) $(_hmn_numbers_of index)" "$word"
      ;;
    --pid) _hmn_words "$(_hmn_numbers_of pid ps)" "$word" ;;
    --by) _hmn_words "user container device" "$word" ;;
    --columns) _hmn_words "pid name vram shared ram device type user load container nspid command peak" "$word" ;;
    --interval) _hmn_words "100ms 1s 10s 1m" "$word" ;;
    --duration) _hmn_words "10s 1m 1h" "$word" ;;
    --record | --plot | --output | --web-config | --textfile)
      _hmn_files "$word"
      ;;
    --free) _hmn_words "1GiB 8GiB 20GiB 40GiB" "$word" ;;
    --context) _hmn_words "4K 8K 32K 128K" "$word" ;;
    --kv-type) _hmn_words "f32 f16 bf16 f8 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl" "$word" ;;
    --user) mapfile -t COMPREPLY < <(compgen -u -- "$word") ;;
    --listen) _hmn_words "127.0.0.1:10077 [::1]:10077 :10077" "$word" ;;
    --per) _hmn_words "process user container pod job unit" "$word" ;;
    --compat) _hmn_words "dcgm nvidia-smi" "$word" ;;
    --max-age) _hmn_words "100ms 1s 5s" "$word" ;;
    --match | --count | --batch | --top) ;;
    *)
      case $command in
        top) _hmn_words "--interval --once --count --user --device $common" "$word" ;;
        ps) _hmn_words "--pid --device --sort --match --by --columns --unattributed --show-pools --json $common" "$word" ;;
        log) _hmn_words "--interval --count --duration --device --json --csv $common" "$word" ;;
        metrics) _hmn_words "--device --slow --unsupported --json $common" "$word" ;;
        fit)
          _hmn_words "--context --batch --ubatch --kv-type --device --json $common" "$word"
          [[ $word == -* ]] || _hmn_files "$word"
          ;;
        run) _hmn_words "--record --plot --interval --device --json --output --force $common" "$word" ;;
        spill) _hmn_words "--interval --device --json --output --force $common" "$word" ;;
        watch) _hmn_words "--interval --duration --top --match --sort --follow-new --device --json $common" "$word" ;;
        wait) _hmn_words "--free --any --device --interval --json $common" "$word" ;;
        exporter) _hmn_words "--listen --web-config --max-age --per --compat --once --openmetrics --textfile --interval --force $common" "$word" ;;
        snapshot) _hmn_words "--json $common" "$word" ;;
        doctor) _hmn_words "--json $common" "$word" ;;
        help) _hmn_words "top ps snapshot log metrics fit run spill watch wait exporter doctor record-machine" "$word" ;;
        record-machine)
          _hmn_words "--force $common" "$word"
          [[ $word == -* ]] || _hmn_files "$word"
          ;;
        *) _hmn_words "top ps snapshot log metrics fit run spill watch wait exporter doctor record-machine help version --json --version -V $common" "$word" ;;
      esac
      ;;
  esac
}

complete -F _hmn hmn
