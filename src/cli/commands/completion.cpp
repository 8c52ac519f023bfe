// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/text/arguments.hpp"

namespace hmn::cli {
namespace {

// A script is a program in the language of its shell, and the table of options in place of @ROWS@:
// "command|letter|name|kind|words|help" on each line. The summary has no name; a name without
// dashes is a command or an argument.
constexpr std::string_view bash_script = R"sh(# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=bash
# bash completion for hmn, printed by `hmn completion bash`

_hmn_rows='@ROWS@'

# Prints the numbers of a JSON key, of the machine on the line.
_hmn_numbers() {
  local i machine=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} != --machine ]] || machine=(--machine "${COMP_WORDS[i + 1]}")
  done
  "${COMP_WORDS[0]}" "${@:2}" --json --timeout 2s "${machine[@]}" 2>/dev/null |
    grep -o "[{,]\"$1\":[0-9]*" | grep -o '[0-9]*$' | sort -nu
}

# Sets the kind and the words of a letter or a name, of the command or, before it, of any.
_hmn_find() {
  local owner letter name rest
  while IFS='|' read -r owner letter name kind words rest; do
    # shellcheck disable=SC2053 # a name may be a pattern
    [[ $command && $owner != "$command" ]] || [[ $letter != "$1" && $name != $1 ]] || return 0
  done <<<"$_hmn_rows"
  kind=flag words=
}

_hmn_add() {
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$@")
}

_hmn_files() {
  compopt -o filenames 2>/dev/null
  _hmn_add -f -- "$word"
}

_hmn_value() {
  local before=
  case $kind in
    list | device) [[ $word != *,* ]] || before=${word%,*}, ;;&
    device) words+=" $(_hmn_numbers index)" ;;
    pid) words=$(_hmn_numbers pid ps) ;;
    user) words=$(compgen -u) ;;
    file) words= && _hmn_files ;;
    machine) _hmn_files ;;
  esac
  _hmn_add -P "$before" -W "$words" -- "${word#"$before"}"
}

# Completes the command that hmn is to run, from word $1 on, as that command does.
_hmn_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    _hmn_add -c -- "$word"
  else
    _hmn_files
  fi
}

_hmn_names() {
  local owner letter name kind rest names=
  while IFS='|' read -r owner letter name kind rest; do
    [[ $owner != "$command" || $name != -* && $kind != command ]] || names+=" $name"
  done <<<"$_hmn_rows"
  _hmn_add -W "$names" -- "$word"
}

_hmn() {
  local word=${COMP_WORDS[COMP_CWORD]} command='' kind words i argument
  COMPREPLY=()
  [[ $word != = ]] || word=
  for ((i = 1; i < COMP_CWORD; i++)); do
    argument=${COMP_WORDS[i]}
    if [[ $argument == -?* && $argument != -- ]]; then
      [[ $argument == --* ]] || argument=-${argument: -1} # the last of several letters
      _hmn_find "$argument"
      [[ $kind != flag ]] || continue
      [[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))
      ((++i < COMP_CWORD)) || { _hmn_value && return; }
    elif [[ ! $command ]]; then
      command=$argument
    else
      _hmn_find '[^-]*'
      [[ $argument != -- ]] || ((i++))
      [[ $kind != program ]] || { _hmn_program "$i" && return; }
    fi
  done
  if [[ $command && $word != -* ]]; then
    _hmn_find '[^-]*'
    [[ $kind != program || ! $word ]] || { _hmn_program "$COMP_CWORD" && return; }
    _hmn_value
  fi
  _hmn_names
}

complete -F _hmn hmn
)sh";

constexpr std::string_view zsh_script = R"sh(#compdef hmn
# SPDX-License-Identifier: MIT OR Apache-2.0
# zsh completion for hmn, printed by `hmn completion zsh`

_hmn_rows='@ROWS@'

# Prints the numbers of a JSON key, of the machine on the line.
_hmn_numbers() {
  local -a machine
  local position=${words[(I)--machine]}
  (( position )) && machine=(--machine $words[position+1])
  _call_program numbers hmn ${@:2} --json --timeout 2s $machine 2>/dev/null |
    grep -o "[{,]\"$1\":[0-9]*" | grep -o '[0-9]*$' | sort -nu
}

# Completes the value of an option, or an argument, of a command.
_hmn_value() {
  local owner letter name kind list help
  while IFS='|' read -r owner letter name kind list help; do
    [[ $owner != $1 || $name != $2 ]] || break
  done <<<$_hmn_rows
  case $kind in
    words) compadd -- ${=list} ;;
    list) compset -P '*,'; compadd -qS , -- ${=list} ;;
    device) compset -P '*,'; compadd -- ${=list} $(_hmn_numbers index) ;;
    pid) compadd -- $(_hmn_numbers pid ps) ;;
    user) _users ;;
    file) _files ${list:+-g "*.(${list// /|})"} ;;
    machine) compadd -- ${=list}; _files -g '*.json' ;;
  esac
}

# Sets specs, as _arguments takes them, of a command, and the commands that are named.
_hmn_specs() {
  local owner letter name kind list help value
  local -a names
  while IFS='|' read -r owner letter name kind list help; do
    [[ $owner == $1 ]] || continue
    names=($letter $name)
    help="[${${help//\[/\\[}//\]/\\]}]"
    value=":$name: _hmn_value ${(qq)1} $name"
    case $name:$kind in
      *:command) named+=($name:${help[2,-2]}) ;;
      *:program) specs+=('(-)1:command: _command_names -e' '*::argument:_normal') ;;
      -*:flag) specs+=("($names)"$^names$help) ;;
      -*) specs+=('*'$^names$help$value) ;;
      *) specs+=('*'$value) ;;
    esac
  done <<<$_hmn_rows
}

_hmn() {
  local curcontext=$curcontext state
  local -a specs named
  _hmn_specs ''
  _arguments -s -C $specs '(-)1: :->command' '(-)*:: :->arguments' && return
  if [[ $state == command ]]; then
    _describe command named
  else
    specs=()
    _hmn_specs $words[1]
    _arguments -s -S $specs
  fi
}

if [[ $funcstack[1] == _hmn ]]; then
  _hmn "$@"
else
  compdef _hmn hmn
fi
)sh";

constexpr std::string_view fish_script = R"sh(# SPDX-License-Identifier: MIT OR Apache-2.0
# fish completion for hmn, printed by `hmn completion fish`

function __hmn_numbers
    hmn $argv[2..-1] --json --timeout 2s 2>/dev/null | string match -ra "[{,]\"$argv[1]\":(\d+)" | string match -r '^\d+$' | sort -nu
end

set -l rows (string split -n \n '@ROWS@')
set -l commands (string replace -rf '^\|\|(.*)\|command\|.*' '$1' $rows)
set -l valued (string replace -rf '^[^|]*\|([^|]*)\|(--[^|]*)\|(?!flag).*' '$1 $2' $rows)

complete -c hmn -f
for row in $rows
    string split '|' $row | read -lL owner letter name kind list help
    set -l condition "__fish_seen_subcommand_from $owner"
    test -n "$owner"; or set condition "not __fish_seen_subcommand_from $commands"
    set -l options
    string match -q -- '--*' $name; and set -a options -l (string sub -s 3 -- $name)
    test -n "$letter"; and set -a options -s (string sub -s 2 -- $letter)
    switch $kind
        case any
            set -a options -x
        case words
            set -a options -x -a $list
        case list
            set -a options -x -a "(__fish_append , $list)"
        case device
            set -a options -x -a "(__fish_append , (__hmn_numbers index) $list)"
        case pid
            set -a options -x -a '(__hmn_numbers pid ps)'
        case user
            set -a options -x -a '(__fish_complete_users)'
        case file
            set -a options -r -F
        case machine
            set -a options -r -F -a $list
        case command
            set -a options -a $name
        case program # completes as it does; -_ ends the options of the function
            set -a options -x -a "(__fish_complete_subcommand --fcs-skip=2 -_ $valued)"
    end
    complete -c hmn -n $condition $options -d $help
end
)sh";

std::string command_names() {
  std::vector<std::string_view> names;
  for (const auto* command : list_commands()) names.push_back(command->name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string_view completion_kind(const Option& option) {
  if (!option.is_argument() && option.value.empty()) return "flag";
  switch (option.completion) {
    case Completion::words:
    case Completion::command:
      return "words";
    case Completion::list:
      return "list";
    case Completion::file:
      return "file";
    case Completion::device:
      return "device";
    case Completion::pid:
      return "pid";
    case Completion::user:
      return "user";
    case Completion::machine:
      return "machine";
    case Completion::program:
      return "program";
    case Completion::nothing:
      break;
  }
  return "any";
}

std::string format_rows(const Command& command) {
  std::string rows;
  for (const auto& option : list_options(command))
    rows += fmt::format(
        "{}|{}|{}|{}|{}|{}\n", command.name,
        option.letter == 0 ? "" : fmt::format("-{}", option.letter), option.name,
        completion_kind(option),
        option.completion == Completion::command ? command_names() : std::string(option.words),
        option.help);
  return rows;
}

std::string format_all_rows() {
  auto rows = format_rows(summary_command);
  for (const auto* command : list_commands())
    rows += fmt::format("||{}|command||{}\n", command->name, command->purpose);
  for (const auto* command : list_commands()) rows += format_rows(*command);
  rows.pop_back();  // newline of the last row
  return rows;
}

void replace_all(std::string& text, std::string_view old_text, std::string_view new_text) {
  for (auto position = text.find(old_text); position != text.npos;
       position = text.find(old_text, position + new_text.size()))
    text.replace(position, old_text.size(), new_text);
}

constexpr std::string_view shells[] = {"bash", "zsh", "fish"};
constexpr std::string_view scripts[] = {bash_script, zsh_script, fish_script};

constexpr Option completion_options[] = {
    {"SHELL", 0, "", "bash, zsh or fish", Completion::words, "bash zsh fish", Occurrence::required},
};

constexpr std::string_view completion_examples =
    "Examples:\n"
    "  source <(hmn completion bash)        in ~/.bashrc\n"
    "  source <(hmn completion zsh)         in ~/.zshrc, after compinit\n"
    "  hmn completion fish | source         in ~/.config/fish/config.fish\n"
    "\n"
    "Packages of hmn install these files.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

Expected<Information> print_completion(const Arguments& arguments) {
  const auto shell = choose_word("SHELL", arguments.text("SHELL").value_or(""), shells);
  if (!shell) return shell.error();
  auto rows = format_all_rows();
  replace_all(rows, "'", "'\\''");
  std::string script(scripts[*shell]);
  replace_all(script, "@ROWS@", rows);
  return Information{script};
}

}  // namespace

const Command completion_command = {
    .name = "completion",
    .purpose = "Print the completions for a shell",
    .options = completion_options,
    .examples = completion_examples,
    .print = print_completion,
};

}  // namespace hmn::cli
