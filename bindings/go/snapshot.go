// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"fmt"
	"time"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// SnapshotOptions select what a snapshot holds. The zero value, and nil, mean every default.
type SnapshotOptions struct {
	Flags       SnapshotFlags
	Collect     Collect       // 0: memory, devices, pools, self
	DeviceIndex uint32        // 0 unless SnapshotOneDevice
	PID         uint32        // 0 unless SnapshotOneProcess
	Deadline    time.Duration // 0: the context's
}

// Snapshot is one consistent state, copied into plain values when it is taken. These stay readable after
// Close; what C makes of a snapshot (JSON, lines, changes, reasons, pools by kind) does not. It may be used by
// any number of goroutines at once.
type Snapshot struct {
	native raw.Snapshot
	open   *handle

	info        SnapshotInfo
	memory      Optional[ProcessMemory]
	system      Optional[SystemMemory]
	devices     []SnapshotDevice
	pools       []Pool
	usages      []Usage
	diagnostics []Diagnostic
	metrics     []Metric
	groups      []Group
}

// SnapshotDevice is a device with what a snapshot holds of it.
type SnapshotDevice struct {
	Device
	Pools     []Pool              `json:"pools"`     // the main pool first
	Telemetry Optional[Telemetry] `json:"telemetry"` // absent: not asked for, or not to be had
	OwnUsage  Optional[Usage]     `json:"own_usage"` // absent: not asked for, or not to be had
	Metrics   []Metric            `json:"metrics"`   // each single number that the sources report
}

// Take takes a snapshot. What could not be read is a diagnostic of it, not an error. ErrNoDevice:
// SnapshotOneDevice and the index was never given. ErrRange: SnapshotOneProcess and pid 0. ErrArgument:
// DeviceIndex or PID without its flag. Close it; one that is forgotten is closed some time after the
// garbage collector finds it.
func (c *Context) Take(options *SnapshotOptions) (*Snapshot, error) {
	var given SnapshotOptions
	if options != nil {
		given = *options
	}
	var d durations
	deadline := d.ns("Deadline", given.Deadline)
	if d.err != nil {
		return nil, d.err
	}
	native, err := ask(c, func(native raw.Context, failure *raw.Error) raw.Snapshot {
		return native.Take(uint32(given.Flags), uint32(given.Collect), given.DeviceIndex, given.PID,
			deadline, failure)
	})
	if err != nil {
		return nil, err
	}
	return newSnapshot(native)
}

// newSnapshot copies a native snapshot, and owns it from then on.
func newSnapshot(native raw.Snapshot) (*Snapshot, error) {
	snapshot, err := copySnapshot(native)
	if err != nil {
		raw.DeleteSnapshot(native)
		return nil, err
	}
	snapshot.native = native
	snapshot.open = newHandle(func() { raw.DeleteSnapshot(native) })
	return snapshot, nil
}

// Close frees what C holds of the snapshot; the values that were copied stay. Closing again does nothing.
func (s *Snapshot) Close() error {
	if s != nil {
		s.open.close()
	}
	return nil
}

// Info is counts, times and notes of the snapshot.
func (s *Snapshot) Info() SnapshotInfo {
	if s == nil {
		return SnapshotInfo{}
	}
	return s.info
}

// Memory is the caller's host memory; false: not asked for, or not to be had.
func (s *Snapshot) Memory() (ProcessMemory, bool) {
	if s == nil {
		return ProcessMemory{}, false
	}
	return s.memory.Get()
}

// System is the host's memory; false: not asked for, or not to be had.
func (s *Snapshot) System() (SystemMemory, bool) {
	if s == nil {
		return SystemMemory{}, false
	}
	return s.system.Get()
}

// Devices are the devices by index, in memory of the caller's own.
func (s *Snapshot) Devices() []SnapshotDevice {
	if s == nil {
		return nil
	}
	devices := clone(s.devices)
	share(devices, clone(s.pools), clone(s.metrics))
	return devices
}

// Pools are all pools by device index, the main pool first, in memory of the caller's own.
func (s *Snapshot) Pools() []Pool {
	if s == nil {
		return nil
	}
	return clone(s.pools)
}

// Usages are what processes use, by device index, then pid, in memory of the caller's own.
func (s *Snapshot) Usages() []Usage {
	if s == nil {
		return nil
	}
	return clone(s.usages)
}

// Metrics are all single numbers by device index, in memory of the caller's own.
func (s *Snapshot) Metrics() []Metric {
	if s == nil {
		return nil
	}
	return clone(s.metrics)
}

// Groups are what control groups hold, by device index, in memory of the caller's own.
func (s *Snapshot) Groups() []Group {
	if s == nil {
		return nil
	}
	return clone(s.groups)
}

// Diagnostics are the reasons why something is missing, in memory of the caller's own.
func (s *Snapshot) Diagnostics() []Diagnostic {
	if s == nil {
		return nil
	}
	return clone(s.diagnostics)
}

// Device is the device at a position (which its index is not). ErrRange: past the end.
func (s *Snapshot) Device(i int) (SnapshotDevice, error) {
	if s == nil {
		return SnapshotDevice{}, ErrClosed
	}
	device, err := at(s.devices, i)
	device.Pools, device.Metrics = clone(device.Pools), clone(device.Metrics)
	return device, err
}

// Pool is the pool at a position of Pools. ErrRange: past the end.
func (s *Snapshot) Pool(i int) (Pool, error) {
	if s == nil {
		return Pool{}, ErrClosed
	}
	return at(s.pools, i)
}

// Usage is the usage at a position of Usages. ErrRange: past the end.
func (s *Snapshot) Usage(i int) (Usage, error) {
	if s == nil {
		return Usage{}, ErrClosed
	}
	return at(s.usages, i)
}

// Metric is the metric at a position of Metrics. ErrRange: past the end.
func (s *Snapshot) Metric(i int) (Metric, error) {
	if s == nil {
		return Metric{}, ErrClosed
	}
	return at(s.metrics, i)
}

// Group is the control group at a position of Groups. ErrRange: past the end.
func (s *Snapshot) Group(i int) (Group, error) {
	if s == nil {
		return Group{}, ErrClosed
	}
	return at(s.groups, i)
}

// Diagnostic is the diagnostic at a position of Diagnostics. ErrRange: past the end.
func (s *Snapshot) Diagnostic(i int) (Diagnostic, error) {
	if s == nil {
		return Diagnostic{}, ErrClosed
	}
	return at(s.diagnostics, i)
}

// ReasonKey names a value that may be missing. Members that the subject does not use are 0.
type ReasonKey struct {
	Subject        Collect // one bit
	DeviceIndex    uint32
	Field          uint64   // presence bit of the value; 0: the subject as a whole
	PID            uint32   // with CollectProcesses
	Pool           PoolKind // with CollectPools
	PoolInstance   uint32
	Metric         MetricID // with CollectMetrics
	MetricInstance uint32
}

// Reason is why a value is missing. ErrNoDevice: the snapshot does not have the device. ErrRange: the subject
// is not one bit of Collect, or there is no such PoolKind or MetricID. ErrArgument: the subject does not use
// a member that is not 0. ErrEmpty: the subject was not requested.
func (s *Snapshot) Reason(key ReasonKey) (Diagnostic, error) {
	record, err := look(s, func(native raw.Snapshot, failure *raw.Error) *raw.Diagnostic {
		return native.Reason(uint32(key.Subject), key.DeviceIndex, key.Field, key.PID, uint32(key.Pool), key.PoolInstance,
			uint32(key.Metric), key.MetricInstance, failure)
	})
	if err == nil && record == nil {
		err = refusal(StatusEmpty, "the subject was not requested")
	}
	return converted(record, newDiagnostic), err
}

func at[T any](list []T, i int) (T, error) {
	if i < 0 || i >= len(list) {
		var nothing T
		return nothing, refusal(StatusRange, fmt.Sprintf("position %d of %d", i, len(list)))
	}
	return list[i], nil
}

func clone[T any](list []T) []T {
	return append([]T(nil), list...)
}
