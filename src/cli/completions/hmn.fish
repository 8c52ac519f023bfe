# SPDX-License-Identifier: MIT OR Apache-2.0
# fish completion for hmn, printed by `hmn completion fish`

function __hmn_numbers
    hmn $argv[2..-1] --json --timeout 2s 2>/dev/null | string match -ra "[{,]\"$argv[1]\":(\d+)" | string match -r '^\d+$' | sort -nu
end

set -l rows (string split -n \n '|-j|--json|flag||Print a JSON array of the GPUs
|-i|--interval|words|1s 5s 1m|Repeat at this interval
|-n|--count|any||Repeat N times, each second without -i
|-d|--device|device||Only this device: index, UUID or PCI address
||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
||--color|words|auto always never|Use colours: auto, always, never [auto]
||--trace|flag||Print each driver call on standard error
|-h|--help|flag||Print this help
|-V|--version|flag||Print the version
||top|command||Monitor GPUs and their processes live
||ps|command||List the processes that hold GPU memory
||snapshot|command||Print everything as one JSON object
||log|command||Print GPU measurements at an interval
||metrics|command||List every sensor, clock, engine and counter
||fit|command||Check whether a model fits in free memory
||record-machine|command||Record this machine to a file to replay elsewhere
||run|command||Run a command and report the memory it used
||wait|command||Wait for free GPU memory, then run a command
||spill|command||Run a command and report spills of GPU memory
||watch|command||Track per-process GPU memory and detect spills
||exporter|command||Serve metrics of the GPUs to Prometheus
||doctor|command||Check GPUs and drivers, and suggest fixes
||completion|command||Print the completions for a shell
||help|command||Print this help, or the help of a command
||version|command||Print the version
top|-i|--interval|words|100ms 500ms 1s 5s|Time between readings [1s]
top||--once|flag||Print one frame as text
top|-n|--count|any||Exit after N frames
top||--read-only|flag||Send no signals to processes
top|-u|--user|user||Only processes of this user: name or number
top|-d|--device|device||Only this device: index, UUID or PCI address
top||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
top||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
top||--color|words|auto always never|Use colours: auto, always, never [auto]
top||--trace|flag||Print each driver call on standard error
top|-h|--help|flag||Print this help
ps|-p|--pid|pid||Only this process
ps|-u|--user|user||Only processes of this user: name or number
ps||--match|any||Only where name or command matches (* ? [a-z])
ps||--sort|words|vram shared total ram pid name load user|By vram, shared, total, ram, pid, name, load, user
ps||--by|words|user container pod job unit device|Totals by user, container, pod, job, unit, device
ps||--columns|list|pid name vram shared ram gpu user command device type load container nspid peak|Columns, separated by commas
ps||--unattributed|flag||Also memory that belongs to no visible process
ps||--show-pools|flag||One line per memory pool of each process
ps|-d|--device|device||Only this device; several: 0,1, or repeated
ps|-j|--json|flag||Print a JSON array
ps||--csv|flag||Print comma-separated values
ps||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
ps||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
ps||--color|words|auto always never|Use colours: auto, always, never [auto]
ps||--trace|flag||Print each driver call on standard error
ps|-h|--help|flag||Print this help
snapshot|-j|--json|flag||Print JSON, which it always does
snapshot|-d|--device|device||Only this device: index, UUID or PCI address
snapshot||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
snapshot||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
snapshot||--color|words|auto always never|Use colours: auto, always, never [auto]
snapshot||--trace|flag||Print each driver call on standard error
snapshot|-h|--help|flag||Print this help
log|-i|--interval|words|100ms 1s 10s 1m|Time between samples [1s]
log|-n|--count|any||Exit after N samples of each device
log||--duration|words|10s 1m 1h|Exit after this time
log|-j|--json|flag||Print a JSON object on each line
log||--csv|flag||Print comma-separated values
log|-d|--device|device||Only this device: index, UUID or PCI address
log||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
log||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
log||--color|words|auto always never|Use colours: auto, always, never [auto]
log||--trace|flag||Print each driver call on standard error
log|-h|--help|flag||Print this help
metrics|-d|--device|device||Only this device: index, UUID or PCI address
metrics||--slow|flag||Also metrics that take more than a few ms to read
metrics||--unsupported|flag||Also unsupported metrics, with the reason
metrics|-j|--json|flag||Print a JSON array
metrics||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
metrics||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
metrics||--color|words|auto always never|Use colours: auto, always, never [auto]
metrics||--trace|flag||Print each driver call on standard error
metrics|-h|--help|flag||Print this help
fit||MODEL|file||GGUF, safetensors, config.json, folder or name
fit||--context|words|4K 8K 32K 128K|Tokens of each sequence [the model'\''s, at most 8K]
fit||--batch|any||Sequences [1; for GGUF 4 that share a context]
fit||--ubatch|any||Tokens processed at once [512; without GGUF 2048]
fit||--kv-type|words|f32 f16 bf16 f8 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl|Type of the cached keys and values [f16]
fit||--no-flash-attention|flag||Count stored attention scores, as with -fa off
fit|-d|--device|device|all|Only these, as in 0,1; all: together
fit||--why|flag||Also list assumptions, all devices and files
fit|-j|--json|flag||Print a JSON object
fit||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
fit||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
fit||--color|words|auto always never|Use colours: auto, always, never [auto]
fit||--trace|flag||Print each driver call on standard error
fit|-h|--help|flag||Print this help
record-machine||FILE|file|json|File to write
record-machine||--force|flag||Replace an existing file
record-machine||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
record-machine||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
record-machine||--color|words|auto always never|Use colours: auto, always, never [auto]
record-machine||--trace|flag||Print each driver call on standard error
record-machine|-h|--help|flag||Print this help
run||--all|flag||List and plot all GPUs, also unused ones
run||--record|file|jsonl csv|Write each sample to FILE (.jsonl or .csv)
run||--plot|file|svg|Plot to FILE (.svg), or in the terminal (-)
run|-i|--interval|words|20ms 100ms 1s|Time between samples [100ms]
run|-j|--json|flag||Print the report as a JSON object
run|-o|--output|file|json|Write the report to FILE as JSON (.json)
run||--force|flag||Replace existing files of any name
run|-d|--device|device||Only this device: index, UUID or PCI address
run||COMMAND|program||
run||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
run||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
run||--color|words|auto always never|Use colours: auto, always, never [auto]
run||--trace|flag||Print each driver call on standard error
run|-h|--help|flag||Print this help
wait||--free|words|1GiB 8GiB 20GiB 40GiB|Free memory to wait for: 20GiB, 512MiB
wait|-i|--interval|words|1s 5s 1m|Time between checks [5s]
wait||--timeout|words|30s 5m 1h|Give up after this time: 30 (seconds), 5m, 1h
wait||--any|flag||Any device with that much free (the default)
wait||--gpus|any||N devices with that much free each
wait|-d|--device|device||These, as in 0,1: index, UUID or PCI address
wait|-j|--json|flag||Print a JSON object for each device
wait||COMMAND|program||
wait||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
wait||--color|words|auto always never|Use colours: auto, always, never [auto]
wait||--trace|flag||Print each driver call on standard error
wait|-h|--help|flag||Print this help
spill|-i|--interval|words|50ms 100ms 1s|Time between samples [100ms]
spill|-j|--json|flag||Print the report as a JSON object
spill|-o|--output|file|json|Write the report to FILE as JSON (.json)
spill||--force|flag||Replace existing files of any name
spill|-d|--device|device||This device: index, UUID or PCI address [0]
spill||COMMAND|program||
spill||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
spill||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
spill||--color|words|auto always never|Use colours: auto, always, never [auto]
spill||--trace|flag||Print each driver call on standard error
spill|-h|--help|flag||Print this help
watch||PID|pid||Processes to track; by default those that use most
watch|-i|--interval|words|1s 5s 1m|Time between samples [5s]
watch||--duration|words|10s 1m 1h|Exit after this time
watch||--top|any||Without PID: track the top N of each device [5]
watch||--match|any||Without PID: only names that match (* ? [a-z])
watch||--sort|words|vram shared total ram pid name|Rank by vram, shared, total, ram, pid, name [vram]
watch||--follow-new|flag||Select the processes again at each sample
watch|-d|--device|device||Only these, as in 0,1: index, UUID or PCI address
watch|-j|--json|flag||Print a JSON object on each line
watch||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
watch||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
watch||--color|words|auto always never|Use colours: auto, always, never [auto]
watch||--trace|flag||Print each driver call on standard error
watch|-h|--help|flag||Print this help
exporter||--listen|words|127.0.0.1:10077 localhost:10077 [::1]:10077 :10077|Serve there; no ADDRESS: all [127.0.0.1:10077]
exporter||--web-config|file|yml yaml|TLS, passwords and headers, in Prometheus'\'' format
exporter||--max-age|words|100ms 1s 5s|Share readings between clients up to this age [1s]
exporter||--by|list|process user container pod job unit|Also memory by process, user, container, pod, ...
exporter||--compat|list|dcgm nvidia-smi|Also names of other exporters: dcgm, nvidia-smi
exporter||--metrics|any||Only metrics with such a name: '\''hw_*,*_bytes'\''
exporter||--no-metrics|any||No metrics with such a name
exporter||--textfile|file|prom|Write the metrics to FILE for node_exporter
exporter|-i|--interval|words|15s 1m|With --textfile: write again at an interval
exporter||--timeout|words|1s 2s 10s|Maximum wait for drivers [2s]
exporter||--force|flag||With --textfile: replace a file of any name
exporter||--once|flag||Print the metrics
exporter||--openmetrics|flag||With --once, --textfile: OpenMetrics format
exporter||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
exporter||--color|words|auto always never|Use colours: auto, always, never [auto]
exporter||--trace|flag||Print each driver call on standard error
exporter|-h|--help|flag||Print this help
doctor|-j|--json|flag||Print a JSON object
doctor|-d|--device|device||Only this device: index, UUID or PCI address
doctor||--timeout|words|1s 10s 60s 5m|Maximum wait for drivers: 30 (seconds), 500ms, 5m
doctor||--machine|machine|apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation|Read a simulated or recorded machine: file or name
doctor||--color|words|auto always never|Use colours: auto, always, never [auto]
doctor||--trace|flag||Print each driver call on standard error
doctor|-h|--help|flag||Print this help
completion||SHELL|words|bash zsh fish|bash, zsh or fish
completion|-h|--help|flag||Print this help
help||COMMAND|words|top ps snapshot log metrics fit record-machine run wait spill watch exporter doctor completion help version|Command whose help to print
help|-h|--help|flag||Print this help
version|-h|--help|flag||Print this help')
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
