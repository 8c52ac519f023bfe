# SPDX-License-Identifier: MIT OR Apache-2.0
# fish completion for hmn

function __hmn_numbers_of
    hmn $argv[2..-1] --json --timeout 2s 2>/dev/null | string match -ra "[{,]\"$argv[1]\":(\d+)" | string match -r '^\d+$' | sort -nu
end

set -l commands top ps snapshot log metrics fit run spill watch wait exporter doctor record-machine help version
complete -c hmn -f
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a top -d 'Monitor GPUs and their processes live'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a ps -d 'List the processes that hold GPU memory'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a snapshot -d 'Print everything as one JSON object'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a log -d 'Print GPU measurements at an interval'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a metrics -d 'List every sensor, clock, engine and counter'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a fit -d 'Check whether a model fits in free memory'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a run -d 'Run a command and report the memory it used'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a spill -d 'Run a command and report spills of GPU memory'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a watch -d 'Track per-process GPU memory and detect spills'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a wait -d 'Wait for free GPU memory, then run a command'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a exporter -d 'Serve metrics of the GPUs to Prometheus'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'Check GPUs and drivers, and suggest fixes'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a record-machine -d 'Record this machine to a file to replay elsewhere'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a help -d 'Print this help, or the help of a command'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -a version -d 'Print the version'
complete -c hmn -n '__fish_seen_subcommand_from help' -a 'top ps snapshot log metrics fit run spill watch wait exporter doctor record-machine'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -l json -d 'Print a JSON array of the GPUs'
complete -c hmn -n "not __fish_seen_subcommand_from $commands" -s V -l version -d 'Print the version'

complete -c hmn -s h -l help -d 'Print help'
complete -c hmn -l timeout -x -a '1s 10s 60s 5m' -d 'Maximum wait for drivers'
complete -c hmn -l machine -r -F -a 'apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation' -d 'Run on a simulated machine'
complete -c hmn -l color -x -a 'auto always never' -d Colours
complete -c hmn -l trace -d 'Print each driver call on standard error'

complete -c hmn -n '__fish_seen_subcommand_from top' -l interval -x -a '100ms 500ms 1s 5s' -d 'Time between readings'
complete -c hmn -n '__fish_seen_subcommand_from top' -l once -d 'Print one frame as text'
complete -c hmn -n '__fish_seen_subcommand_from top' -l count -x -d 'Exit after N frames'
complete -c hmn -n '__fish_seen_subcommand_from top' -l user -x -a '(__fish_complete_users)' -d 'Only processes of this user'
complete -c hmn -n '__fish_seen_subcommand_from top' -l device -x -a '(__hmn_numbers_of index)' -d 'Only this device'

complete -c hmn -n '__fish_seen_subcommand_from ps' -l pid -x -a '(__hmn_numbers_of pid ps)' -d 'Only this process'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l device -x -a '(__hmn_numbers_of index)' -d 'Only this device'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l sort -x -a 'vram shared total ram pid name' -d Order
complete -c hmn -n '__fish_seen_subcommand_from ps' -l match -x -d 'Only processes whose name matches'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l by -x -a 'user container device' -d 'Sums instead'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l columns -x -a 'pid name vram shared ram device type user load container nspid command peak' -d 'Columns, separated by commas'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l unattributed -d 'Also memory that belongs to no visible process'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l show-pools -d 'One line per memory pool of each process'
complete -c hmn -n '__fish_seen_subcommand_from ps' -l json -d 'Print a JSON array'

complete -c hmn -n '__fish_seen_subcommand_from log' -l interval -x -a '100ms 1s 10s 1m' -d 'Time between samples'
complete -c hmn -n '__fish_seen_subcommand_from log' -l count -x -d 'Exit after N samples of each device'
complete -c hmn -n '__fish_seen_subcommand_from log' -l duration -x -a '10s 1m 1h' -d 'Exit after this time'
complete -c hmn -n '__fish_seen_subcommand_from log' -l device -x -a '(__hmn_numbers_of index)' -d 'Only this device'
complete -c hmn -n '__fish_seen_subcommand_from log' -l json -d 'Print a JSON object on each line'
complete -c hmn -n '__fish_seen_subcommand_from log' -l csv -d 'Print comma-separated values'

complete -c hmn -n '__fish_seen_subcommand_from metrics' -l device -x -a '(__hmn_numbers_of index)' -d 'Only this device'
complete -c hmn -n '__fish_seen_subcommand_from metrics' -l slow -d 'Also metrics that take more than a few ms to read'
complete -c hmn -n '__fish_seen_subcommand_from metrics' -l unsupported -d 'Also unsupported metrics, with the reason'
complete -c hmn -n '__fish_seen_subcommand_from metrics' -l json -d 'Print a JSON array'

complete -c hmn -n '__fish_seen_subcommand_from fit' -F
complete -c hmn -n '__fish_seen_subcommand_from fit' -l context -x -a '4K 8K 32K 128K' -d 'Tokens of each sequence'
complete -c hmn -n '__fish_seen_subcommand_from fit' -l batch -x -d 'Sequences at once'
complete -c hmn -n '__fish_seen_subcommand_from fit' -l ubatch -x -d 'Tokens processed at once'
complete -c hmn -n '__fish_seen_subcommand_from fit' -l kv-type -x -a 'f32 f16 bf16 f8 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl' -d 'Type of the cached keys and values'
complete -c hmn -n '__fish_seen_subcommand_from fit' -l device -x -a '(__hmn_numbers_of index) all' -d 'Only this device; several: together'
complete -c hmn -n '__fish_seen_subcommand_from fit' -l json -d 'Print a JSON object'

# The command that they run completes as by itself. -_ is no option: it ends those of the function.
complete -c hmn -n '__fish_seen_subcommand_from run spill' -x -a '(__fish_complete_subcommand --fcs-skip=2 -_ --timeout --machine --color --interval --device --record --plot --output)'
complete -c hmn -n '__fish_seen_subcommand_from wait' -x -a '(__fish_complete_subcommand --fcs-skip=2 -_ --timeout --machine --color --interval --device --free)'

complete -c hmn -n '__fish_seen_subcommand_from spill' -l interval -x -a '50ms 100ms 1s' -d 'Time between samples'
complete -c hmn -n '__fish_seen_subcommand_from spill' -l device -x -a '(__hmn_numbers_of index)' -d 'This device'
complete -c hmn -n '__fish_seen_subcommand_from spill' -l json -d 'Print a JSON object'
complete -c hmn -n '__fish_seen_subcommand_from spill' -l output -r -F -d 'Write the report as JSON to a file'
complete -c hmn -n '__fish_seen_subcommand_from spill' -l force -d 'Replace existing files of any name'
complete -c hmn -n '__fish_seen_subcommand_from watch' -l interval -x -a '1s 5s 1m' -d 'Time between samples'
complete -c hmn -n '__fish_seen_subcommand_from watch' -l duration -x -a '10s 1m 1h' -d 'Exit after this time'
complete -c hmn -n '__fish_seen_subcommand_from watch' -l top -x -d 'Follow the top N'
complete -c hmn -n '__fish_seen_subcommand_from watch' -l match -x -d 'Only names that match'
complete -c hmn -n '__fish_seen_subcommand_from watch' -l sort -x -a 'vram shared total ram pid name' -d Order
complete -c hmn -n '__fish_seen_subcommand_from watch' -l follow-new -d 'Select the processes again at each sample'
complete -c hmn -n '__fish_seen_subcommand_from watch' -l device -x -a '(__hmn_numbers_of index)' -d 'This device'
complete -c hmn -n '__fish_seen_subcommand_from watch' -l json -d 'Print a JSON object on each line'
complete -c hmn -n '__fish_seen_subcommand_from run' -l record -r -F -d 'Write each sample to a file'
complete -c hmn -n '__fish_seen_subcommand_from run' -l plot -r -F -a - -d 'Draw a plot into a file, or as text (-)'
complete -c hmn -n '__fish_seen_subcommand_from run' -l interval -x -a '20ms 100ms 1s' -d 'Time between samples'
complete -c hmn -n '__fish_seen_subcommand_from run' -l device -x -a '(__hmn_numbers_of index)' -d 'Only this device'
complete -c hmn -n '__fish_seen_subcommand_from run' -l json -d 'Print a JSON object'
complete -c hmn -n '__fish_seen_subcommand_from run' -l output -r -F -d 'Write the report as JSON to a file'
complete -c hmn -n '__fish_seen_subcommand_from run' -l force -d 'Replace existing files of any name'

complete -c hmn -n '__fish_seen_subcommand_from wait' -l free -x -a '1GiB 8GiB 20GiB 40GiB' -d 'Free memory to wait for'
complete -c hmn -n '__fish_seen_subcommand_from wait' -l any -d 'First device with that much free'
complete -c hmn -n '__fish_seen_subcommand_from wait' -l device -x -a '(__hmn_numbers_of index)' -d 'Only this device'
complete -c hmn -n '__fish_seen_subcommand_from wait' -l interval -x -a '1s 5s 1m' -d 'Time between checks'
complete -c hmn -n '__fish_seen_subcommand_from wait' -l json -d 'Print a JSON object'

complete -c hmn -n '__fish_seen_subcommand_from snapshot' -l json -d 'Print JSON, which it always does'
complete -c hmn -n '__fish_seen_subcommand_from doctor' -l json -d 'Print a JSON object'

complete -c hmn -n '__fish_seen_subcommand_from record-machine' -F
complete -c hmn -n '__fish_seen_subcommand_from record-machine' -l force -d 'Replace an existing file'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l listen -x -a '127.0.0.1:10077 :10077' -d 'Serve there'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l web-config -r -F -d 'TLS, passwords and headers'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l max-age -x -a '100ms 1s 5s' -d 'Share readings up to this age'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l per -x -a 'process user container pod job unit' -d 'Also memory by'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l compat -x -a 'dcgm nvidia-smi' -d 'Also the names of other exporters'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l once -d 'Print the metrics'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l openmetrics -d 'OpenMetrics format'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l textfile -r -F -d 'Write the metrics'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l interval -x -a '15s 1m' -d 'Write again at an interval'
complete -c hmn -n '__fish_seen_subcommand_from exporter' -l force -d 'Replace a file of any name'
