// SPDX-License-Identifier: MIT OR Apache-2.0

// Answers the requests of ../../behaviour.py through the public package alone.
package main

import (
	"bufio"
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"hypomnesis.invalid/bindings/go"
)

type agent struct {
	answer
	context   *hypomnesis.Context
	snapshots map[string]*hypomnesis.Snapshot
	samplers  map[string]*hypomnesis.Sampler
	tracker   *hypomnesis.Tracker
	spill     *hypomnesis.Spill
}

// request is the words of one line, the command first.
type request []string

func (r request) u64(i int) uint64 {
	number, err := strconv.ParseUint(r[i], 10, 64)
	if err != nil {
		panic(err)
	}
	return number
}

func (r request) u32(i int) uint32 { return uint32(r.u64(i)) }

func (r request) i32(i int) int32 {
	number, err := strconv.ParseInt(r[i], 10, 32)
	if err != nil {
		panic(err)
	}
	return int32(number)
}

type command struct {
	words int
	run   func(a *agent, r request)
}

var commands = map[string]command{
	"open":     {4, (*agent).open},
	"close":    {0, func(a *agent, r request) { a.check(a.context.Close()) }},
	"set_path": {2, func(a *agent, r request) { a.check(a.setPath(hypomnesis.Path(r.u32(1)), r[2])) }},
	"scan": {0, func(a *agent, r request) {
		answerValue(a, func() (uint32, error) {
			scan, err := a.context.Scan(context.Background())
			return scan.Count, err
		})
	}},
	"scan_generation": {0, func(a *agent, r request) {
		answerValue(a, func() (uint64, error) {
			scan, err := a.context.Scan(context.Background())
			return scan.Generation, err
		})
	}},
	"find_device": {1, func(a *agent, r request) {
		answerValue(a, func() (uint32, error) { return a.context.FindDevice(r[1]) })
	}},
	"device": {1, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Device, error) { return a.context.Device(r.u32(1), 0) })
	}},
	"pool": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Pool, error) {
			return a.context.Pool(context.Background(), r.u32(1), hypomnesis.PoolKind(r.u32(2)), 0, 0)
		})
	}},
	"metric": {3, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Metric, error) {
			return a.context.Metric(context.Background(), r.u32(1), hypomnesis.MetricID(r.u32(2)), r.u32(3), 0)
		})
	}},
	"telemetry": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Telemetry, error) {
			return a.context.Telemetry(context.Background(), r.u32(1), hypomnesis.TelemetryFields(r.u32(2)))
		})
	}},
	"usage": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Usage, error) { return a.context.Usage(context.Background(), r.u32(1), r.u32(2), 0) })
	}},
	"own_usage": {1, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Usage, error) { return a.context.OwnUsage(context.Background(), r.u32(1), 0) })
	}},
	"process_memory": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.ProcessMemory, error) {
			return a.context.ProcessMemory(r.u32(1), hypomnesis.ProcessMemoryFields(r.u32(2)))
		})
	}},
	"own_memory": {1, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.ProcessMemory, error) {
			return a.context.OwnMemory(hypomnesis.ProcessMemoryFields(r.u32(1)))
		})
	}},
	"system_memory": {0, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.SystemMemory, error) { return a.context.SystemMemory(0) })
	}},
	"backend": {1, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.BackendInfo, error) {
			return a.context.Backend(context.Background(), hypomnesis.Backend(r.u32(1)))
		})
	}},
	"format_bytes": {1, func(a *agent, r request) { a.writeValue(hypomnesis.FormatBytes(r.u64(1))) }},
	"status_name":  {1, func(a *agent, r request) { a.writeValue(hypomnesis.Status(r.i32(1)).String()) }},
	"backend_name": {1, func(a *agent, r request) { a.writeValue(hypomnesis.Backend(r.u32(1)).String()) }},
	"reason_name":  {1, func(a *agent, r request) { a.writeValue(hypomnesis.Reason(r.u32(1)).String()) }},
	"metric_name":  {1, func(a *agent, r request) { a.writeValue(hypomnesis.MetricID(r.u32(1)).String()) }},
	"metric_unit":  {1, func(a *agent, r request) { a.writeValue(hypomnesis.MetricID(r.u32(1)).Unit()) }},
	"metric_instance_name": {2, func(a *agent, r request) {
		a.writeValue(hypomnesis.MetricID(r.u32(1)).InstanceName(r.u32(2)))
	}},
	"backend_available": {1, func(a *agent, r request) {
		a.writeValue(hypomnesis.HasBackend(hypomnesis.Backend(r.u32(1))))
	}},
	"feature": {1, func(a *agent, r request) {
		a.writeValue(hypomnesis.HasFeature(hypomnesis.Feature(r.u32(1))))
	}},
	"version": {0, func(a *agent, r request) {
		a.writeValue(hypomnesis.VersionString())
		a.writeField("number", hypomnesis.VersionNumber())
	}},
}

func (a *agent) setPath(path hypomnesis.Path, value string) error {
	if value == "-" {
		return a.context.ResetPath(path)
	}
	return a.context.SetPath(path, value)
}

func (a *agent) open(r request) {
	a.context.Close()
	var err error
	a.context, err = hypomnesis.NewContext(&hypomnesis.ContextOptions{
		Flags:    hypomnesis.ContextFlags(r.u32(1)),
		Deadline: time.Duration(r.u32(2)) * time.Millisecond,
		MaxAge:   time.Duration(r.u32(3)) * time.Millisecond,
	})
	if err == nil && r[4] != "-" {
		err = a.setPath(hypomnesis.PathSimulation, r[4])
	}
	a.check(err)
}

func main() {
	a := &agent{
		snapshots: map[string]*hypomnesis.Snapshot{},
		samplers:  map[string]*hypomnesis.Sampler{},
	}
	for name, entry := range samplerCommands {
		commands[name] = entry
	}
	for name, entry := range trackerCommands {
		commands[name] = entry
	}
	for name, entry := range spillCommands {
		commands[name] = entry
	}
	for name, entry := range snapshotCommands {
		commands[name] = entry
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := request(strings.Split(lines.Text(), "\t"))
		if words[0] == "quit" {
			break
		}
		if entry, ok := commands[words[0]]; !ok {
			a.writeField("error", "unknown")
		} else if entry.words != len(words)-1 {
			a.writeField("error", "usage")
		} else {
			entry.run(a, words)
		}
		a.flush()
	}
	a.context.Close()
}
