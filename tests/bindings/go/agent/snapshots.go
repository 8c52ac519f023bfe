// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"context"

	"hypomnesis.invalid/bindings/go"
)

// snapshot returns the named snapshot; nil if it was dropped.
func (a *agent) snapshot(r request, word int) *hypomnesis.Snapshot {
	return a.snapshots[r[word]]
}

func (a *agent) drop(r request) {
	a.snapshot(r, 1).Close()
	delete(a.snapshots, r[1])
}

func (a *agent) take(r request) {
	snapshot, err := a.context.Take(context.Background(), &hypomnesis.SnapshotOptions{
		Flags:       hypomnesis.SnapshotFlags(r.u32(2)),
		Collect:     hypomnesis.Collect(r.u32(3)),
		DeviceIndex: r.u32(4),
		PID:         r.u32(5),
	})
	if a.check(err) {
		a.snapshot(r, 1).Close()
		a.snapshots[r[1]] = snapshot
	}
}

// answerOptional answers with a record that the snapshot may lack.
func answerOptional[T any](a *agent, r request, record T, ok bool) {
	switch {
	case a.snapshot(r, 1) == nil:
		a.check(hypomnesis.ErrClosed)
	case !ok:
		a.check(hypomnesis.ErrEmpty)
	default:
		a.writeRecord(record)
	}
}

func (a *agent) info(r request) {
	answerOptional(a, r, a.snapshot(r, 1).Info(), true)
}

func (a *agent) memory(r request) {
	memory, ok := a.snapshot(r, 1).Memory()
	answerOptional(a, r, memory, ok)
}

func (a *agent) system(r request) {
	system, ok := a.snapshot(r, 1).System()
	answerOptional(a, r, system, ok)
}

func (a *agent) device(r request) (hypomnesis.SnapshotDevice, bool) {
	device, err := a.snapshot(r, 1).Device(int(r.u32(2)))
	return device, a.check(err)
}

func answerText(field func(hypomnesis.Usage) hypomnesis.Optional[string]) func(*agent, request) {
	return func(a *agent, r request) {
		if usage, err := a.snapshot(r, 1).Usage(int(r.u32(2))); a.check(err) {
			a.writeValue(field(usage))
		}
	}
}

var snapshotCommands = map[string]command{
	"take":   {5, (*agent).take},
	"drop":   {1, (*agent).drop},
	"info":   {1, (*agent).info},
	"memory": {1, (*agent).memory},
	"system": {1, (*agent).system},
	"snapshot_device": {2, func(a *agent, r request) {
		if device, ok := a.device(r); ok {
			a.writeRecord(device.Device)
		}
	}},
	"snapshot_telemetry": {2, func(a *agent, r request) {
		if device, ok := a.device(r); ok {
			telemetry, ok := device.Telemetry.Get()
			answerOptional(a, r, telemetry, ok)
		}
	}},
	"self": {2, func(a *agent, r request) {
		if device, ok := a.device(r); ok {
			usage, ok := device.OwnUsage.Get()
			answerOptional(a, r, usage, ok)
		}
	}},
	"snapshot_pool": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Pool, error) { return a.snapshot(r, 1).Pool(int(r.u32(2))) })
	}},
	"snapshot_usage": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Usage, error) { return a.snapshot(r, 1).Usage(int(r.u32(2))) })
	}},
	"snapshot_metric": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Metric, error) { return a.snapshot(r, 1).Metric(int(r.u32(2))) })
	}},
	"snapshot_group": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Group, error) { return a.snapshot(r, 1).Group(int(r.u32(2))) })
	}},
	"group_name": {2, func(a *agent, r request) {
		if group, err := a.snapshot(r, 1).Group(int(r.u32(2))); a.check(err) {
			a.writeValue(group.Name)
		}
	}},
	"process_name":      {2, answerText(func(u hypomnesis.Usage) hypomnesis.Optional[string] { return u.Name })},
	"process_command":   {2, answerText(func(u hypomnesis.Usage) hypomnesis.Optional[string] { return u.Command })},
	"process_container": {2, answerText(func(u hypomnesis.Usage) hypomnesis.Optional[string] { return u.Container })},
	"diagnostic": {2, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Diagnostic, error) { return a.snapshot(r, 1).Diagnostic(int(r.u32(2))) })
	}},
	"reason": {8, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Diagnostic, error) {
			return a.snapshot(r, 1).Reason(hypomnesis.ReasonKey{DeviceIndex: r.u32(2), Subject: hypomnesis.Collect(r.u32(3)),
				Field: r.u64(4), Metric: hypomnesis.MetricID(r.u32(5)), MetricInstance: r.u32(6),
				Pool: hypomnesis.PoolKind(r.u32(7)), PID: r.u32(8)})
		})
	}},
	"json": {1, func(a *agent, r request) { answerValue(a, a.snapshot(r, 1).JSON) }},
	"device_line": {3, func(a *agent, r request) {
		answerValue(a, func() (string, error) {
			return a.snapshot(r, 1).DeviceLine(r.u32(2), hypomnesis.Format(r.u32(3)), 0)
		})
	}},
	"delta": {3, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Delta, error) {
			return a.snapshot(r, 2).DeltaSince(a.earlierSnapshot(r), r.u32(3))
		})
	}},
	"delta_line": {4, func(a *agent, r request) {
		answerValue(a, func() (string, error) {
			return a.snapshot(r, 2).DeltaLine(a.earlierSnapshot(r), r.u32(3), r[4], 0)
		})
	}},
	"before_after": {4, func(a *agent, r request) {
		answerValue(a, func() (string, error) {
			return a.snapshot(r, 2).BeforeAfterLines(a.earlierSnapshot(r), r.u32(3), r[4], 0)
		})
	}},
}

// earlierSnapshot returns the first snapshot of a delta; for a dropped one an empty, closed Snapshot,
// since C refuses nil.
func (a *agent) earlierSnapshot(r request) *hypomnesis.Snapshot {
	if snapshot := a.snapshot(r, 1); snapshot != nil {
		return snapshot
	}
	return new(hypomnesis.Snapshot)
}
