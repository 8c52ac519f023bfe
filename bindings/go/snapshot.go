// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"context"
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
// Close; everything that C computes (JSON, lines, changes, reasons, pools by kind) does not. It may be used by
// any number of goroutines at the same time.
type Snapshot struct {
	native raw.Snapshot
	handle *handle

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

// SnapshotDevice is a device with its pools, telemetry, usage and metrics in a snapshot.
type SnapshotDevice struct {
	Device
	Pools     []Pool              `json:"pools"`     // the main pool first
	Telemetry Optional[Telemetry] `json:"telemetry"` // absent: not requested or not available
	OwnUsage  Optional[Usage]     `json:"own_usage"` // absent: not requested or not available
	Metrics   []Metric            `json:"metrics"`   // all single numbers that the sources report
}

// MainPool returns the pool that allocations come from; all of its values are absent where the device has none.
func (d SnapshotDevice) MainPool() Pool {
	if len(d.Pools) == 0 {
		return Pool{DeviceIndex: d.Index}
	}
	return d.Pools[0]
}

// Take takes a snapshot. For values that could not be read it has diagnostics; they are no errors. ErrNoDevice:
// SnapshotOneDevice and no device has had the index. ErrRange: SnapshotOneProcess and pid 0. ErrArgument:
// DeviceIndex or PID without its flag. Close it; otherwise it is closed some time after it becomes garbage.
func (c *Context) Take(ctx context.Context, options *SnapshotOptions) (*Snapshot, error) {
	return await(ctx, func() (*Snapshot, error) { return c.take(ctx, options) }, func(late *Snapshot) { late.Close() })
}

func (c *Context) take(ctx context.Context, options *SnapshotOptions) (*Snapshot, error) {
	var settings SnapshotOptions
	if options != nil {
		settings = *options
	}
	var converter durationConverter
	deadline := shorten(converter.ns("Deadline", settings.Deadline), ctx)
	if converter.err != nil {
		return nil, converter.err
	}
	native, err := callContext(c, func(native raw.Context, failure *raw.Error) raw.Snapshot {
		return native.Take(uint32(settings.Flags), uint32(settings.Collect), settings.DeviceIndex, settings.PID,
			deadline, failure)
	})
	if err != nil {
		return nil, err
	}
	return newSnapshot(native)
}

// shortestDeadline is what the library takes for one.
const shortestDeadline = 100 * time.Microsecond

// shorten returns a deadline of the library, 0 for the default, that is not after that of ctx.
func shorten(deadline uint64, ctx context.Context) uint64 {
	if ctx == nil {
		return deadline
	}
	end, limited := ctx.Deadline()
	if !limited {
		return deadline
	}
	left := time.Until(end)
	if left < shortestDeadline {
		left = shortestDeadline
	}
	if uint64(left) < deadline || (deadline == 0 && left < time.Second) {
		return uint64(left)
	}
	return deadline
}

// Devices returns the devices with their pools and telemetry, as a snapshot has them.
func (c *Context) Devices(ctx context.Context) ([]SnapshotDevice, error) {
	snapshot, err := c.Take(ctx, &SnapshotOptions{Collect: CollectDevices | CollectPools | CollectTelemetry})
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	return snapshot.Devices(), nil
}

// Processes returns what each process uses of each device, as a snapshot has it.
func (c *Context) Processes(ctx context.Context) ([]Usage, error) {
	snapshot, err := c.Take(ctx, &SnapshotOptions{Collect: CollectProcesses})
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	return snapshot.Usages(), nil
}

// newSnapshot copies a native snapshot and takes ownership of it.
func newSnapshot(native raw.Snapshot) (*Snapshot, error) {
	snapshot, err := copySnapshot(native)
	if err != nil {
		raw.DeleteSnapshot(native)
		return nil, err
	}
	snapshot.native = native
	snapshot.handle = newHandle(func() { raw.DeleteSnapshot(native) })
	return snapshot, nil
}

// Close frees the native snapshot; the copied values stay. Closing again does nothing.
func (s *Snapshot) Close() error {
	if s != nil {
		s.handle.close()
	}
	return nil
}

// Info returns counts, times and notes of the snapshot.
func (s *Snapshot) Info() SnapshotInfo {
	if s == nil {
		return SnapshotInfo{}
	}
	return s.info
}

// Memory returns the caller's host memory; false: not requested or not available.
func (s *Snapshot) Memory() (ProcessMemory, bool) {
	if s == nil {
		return ProcessMemory{}, false
	}
	return s.memory.Get()
}

// System returns the host's memory; false: not requested or not available.
func (s *Snapshot) System() (SystemMemory, bool) {
	if s == nil {
		return SystemMemory{}, false
	}
	return s.system.Get()
}

// Devices returns a copy of the devices, by index.
func (s *Snapshot) Devices() []SnapshotDevice {
	if s == nil {
		return nil
	}
	devices := clone(s.devices)
	distribute(devices, clone(s.pools), clone(s.metrics))
	return devices
}

// Pools returns a copy of all pools, by device index, the main pool first.
func (s *Snapshot) Pools() []Pool {
	if s == nil {
		return nil
	}
	return clone(s.pools)
}

// Usages returns a copy of what processes use, by device index, then pid.
func (s *Snapshot) Usages() []Usage {
	if s == nil {
		return nil
	}
	return clone(s.usages)
}

// Metrics returns a copy of all single numbers, by device index.
func (s *Snapshot) Metrics() []Metric {
	if s == nil {
		return nil
	}
	return clone(s.metrics)
}

// Groups returns a copy of what control groups hold, by device index.
func (s *Snapshot) Groups() []Group {
	if s == nil {
		return nil
	}
	return clone(s.groups)
}

// Diagnostics returns a copy of the reasons why something is missing.
func (s *Snapshot) Diagnostics() []Diagnostic {
	if s == nil {
		return nil
	}
	return clone(s.diagnostics)
}

// Device returns the device at a position, which is not its index. ErrRange: past the end.
func (s *Snapshot) Device(i int) (SnapshotDevice, error) {
	if s == nil {
		return SnapshotDevice{}, ErrClosed
	}
	device, err := entryAt(s.devices, i)
	device.Pools, device.Metrics = clone(device.Pools), clone(device.Metrics)
	return device, err
}

// Pool returns the pool at a position of Pools. ErrRange: past the end.
func (s *Snapshot) Pool(i int) (Pool, error) {
	if s == nil {
		return Pool{}, ErrClosed
	}
	return entryAt(s.pools, i)
}

// Usage returns the usage at a position of Usages. ErrRange: past the end.
func (s *Snapshot) Usage(i int) (Usage, error) {
	if s == nil {
		return Usage{}, ErrClosed
	}
	return entryAt(s.usages, i)
}

// Metric returns the metric at a position of Metrics. ErrRange: past the end.
func (s *Snapshot) Metric(i int) (Metric, error) {
	if s == nil {
		return Metric{}, ErrClosed
	}
	return entryAt(s.metrics, i)
}

// Group returns the control group at a position of Groups. ErrRange: past the end.
func (s *Snapshot) Group(i int) (Group, error) {
	if s == nil {
		return Group{}, ErrClosed
	}
	return entryAt(s.groups, i)
}

// Diagnostic returns the diagnostic at a position of Diagnostics. ErrRange: past the end.
func (s *Snapshot) Diagnostic(i int) (Diagnostic, error) {
	if s == nil {
		return Diagnostic{}, ErrClosed
	}
	return entryAt(s.diagnostics, i)
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

// Reason returns why a value is missing. ErrNoDevice: the snapshot does not have the device. ErrRange: the
// subject is not one bit of Collect, or there is no such PoolKind or MetricID. ErrArgument: the subject
// does not use a member that is not 0. ErrEmpty: the subject was not requested.
func (s *Snapshot) Reason(key ReasonKey) (Diagnostic, error) {
	record, err := callSnapshot(s, func(native raw.Snapshot, failure *raw.Error) *raw.Diagnostic {
		return native.Reason(uint32(key.Subject), key.DeviceIndex, key.Field, key.PID, uint32(key.Pool), key.PoolInstance,
			uint32(key.Metric), key.MetricInstance, failure)
	})
	if err == nil && record == nil {
		err = newRefusal(StatusEmpty, "the subject was not requested")
	}
	return convertRecord(record, newDiagnostic), err
}

func entryAt[T any](list []T, i int) (T, error) {
	if i < 0 || i >= len(list) {
		var zero T
		return zero, newRefusal(StatusRange, fmt.Sprintf("position %d of %d", i, len(list)))
	}
	return list[i], nil
}

func clone[T any](list []T) []T {
	return append([]T(nil), list...)
}
