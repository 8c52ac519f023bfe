# SPDX-License-Identifier: MIT OR Apache-2.0
# fish completion for hmn

function __hmn_numbers_of
    hmn $argv[2..-1] --json --timeout 2s 2>/dev/null | string match -ra "[{,]\"$argv[1]\":(\d+)" | string match -r '^\d+$' | sort -nu
end

set -l commands ps snapshot doctor
complete -c hmn -f
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a ps -d 'List the processes that hold GPU memory'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a snapshot -d 'Print everything as one JSON object'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'Tell what was found, and what to do'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -l json -d 'Print a JSON array of the GPUs'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -s V -l version -d 'Print the version'

complete -c hmn -s h -l help -d 'Print help'
complete -c hmn -l timeout -x -a '1s 10s 60s 5m' -d 'Longest wait for drivers'
complete -c hmn -l machine -r -F -d 'Run on a simulated machine'
complete -c hmn -l color -x -a 'auto always never' -d Colours
complete -c hmn -l trace -d 'Print each driver call on standard error'

complete -c hmn -n '__fish_seen_subcommand_from ps' -l pid -x -a '(__hmn_numbers_of pid ps)' -d 'Only this process'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l device -x -a '(__hmn_numbers_of index)' -d 'Only this device'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l sort -x -a 'vram shared total ram pid name' -d Order
complete -c hmn -n '__fish_seen_subcommand_from ps' -l match -x -d 'Only processes whose name matches'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l json -d 'Print a JSON array'
