// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"context"
	"runtime"
	"time"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// ContextOptions configure a context. The zero value, and nil, mean every default.
type ContextOptions struct {
	Flags         ContextFlags
	Deadline      time.Duration // longest that one call may wait for drivers; 0 is 1 s
	Stale         time.Duration // oldest value returned instead of ErrTimeout; 0 is 5 s
	OpenDeadline  time.Duration // longest wait for a vendor library to open; 0 is 10 s
	MaxAge        time.Duration // readings this young share one driver call; 0: none do
	IdleClose     time.Duration // a vendor library whose GPU may sleep is shut down this long after use; 0 is 2 s
	Rescan        time.Duration // how often all processes are searched for GPU clients, known clients at each reading; 0 is 2 s
	BackendsOff   uint64        // bit n disables backend n
	DeviceClasses uint32        // bit n lists devices of class n; 0 is only GPUs
	RescanPercent uint32        // most processor time for Rescan, in percent of a core; 0 is 2, 100 is no limit
}

// Context holds sources of measurement, opened once and kept. It may be used by any number of goroutines at
// the same time.
//
// Methods that may wait for a driver take a context.Context first. When it ends, they return its error at once; the
// driver's call cannot be interrupted: it goes on until its deadline, and later readings use its answer.
type Context struct {
	native raw.Context
	handle *handle
}

// NewContext makes a context; it touches no driver yet. Close it; otherwise it is closed some time after it
// becomes garbage.
func NewContext(options *ContextOptions) (*Context, error) {
	var settings ContextOptions
	if options != nil {
		settings = *options
	}
	var converter durationConverter
	deadline, stale := converter.ns("Deadline", settings.Deadline), converter.ns("Stale", settings.Stale)
	openDeadline, maxAge := converter.ns("OpenDeadline", settings.OpenDeadline), converter.ns("MaxAge", settings.MaxAge)
	idleClose, rescan := converter.ns("IdleClose", settings.IdleClose), converter.ns("Rescan", settings.Rescan)
	if converter.err != nil {
		return nil, converter.err
	}
	failure := raw.NewError()
	native := raw.NewContext(uint32(settings.Flags), deadline, stale, openDeadline, maxAge, idleClose, rescan,
		settings.BackendsOff, settings.RescanPercent, settings.DeviceClasses, failure)
	if failure.Status != 0 {
		return nil, newError(failure)
	}
	return &Context{native, newHandle(func() { raw.DeleteContext(native) })}, nil
}

// Close closes the context. It never waits for a driver: calls in progress go on and end as usual. Closing
// again does nothing, and snapshots outlive their context.
func (c *Context) Close() error {
	if c != nil {
		c.handle.close()
	}
	return nil
}

// callContext makes a call on a context, which stays until the call has returned.
func callContext[T any](c *Context, call func(native raw.Context, failure *raw.Error) T) (T, error) {
	if c == nil || !c.handle.enter() {
		var zero T
		return zero, ErrClosed
	}
	defer c.handle.leave()
	failure := raw.NewError()
	result := call(c.native, failure)
	runtime.KeepAlive(c)
	return checkResult(result, failure)
}

type outcome[T any] struct {
	value T
	err   error
}

// await returns the result of a call that may wait, or the error of a ctx that ends before. The call then goes on
// in its goroutine until its own deadline, and discard takes its result.
func await[T any](ctx context.Context, call func() (T, error), discard func(T)) (T, error) {
	if ctx == nil || ctx.Done() == nil {
		return call()
	}
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	outcomes := make(chan outcome[T])
	go func() {
		value, err := call()
		select {
		case outcomes <- outcome[T]{value, err}:
		case <-ctx.Done():
			if err == nil && discard != nil {
				discard(value)
			}
		}
	}()
	select {
	case result := <-outcomes:
		return result.value, result.err
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

// awaitContext makes a call on a context that may wait for a driver.
func awaitContext[T any](ctx context.Context, c *Context, call func(native raw.Context, failure *raw.Error) T) (T, error) {
	return await(ctx, func() (T, error) { return callContext(c, call) }, nil)
}

// SetPath makes the context read from another place than the default: an absolute path. The first reading
// shows whether it exists. ErrArgument: not absolute, empty, or too long. ErrRange: no such Path. ErrState:
// this context was read from already. ErrUnsupported: the backend that uses it is not compiled in.
func (c *Context) SetPath(path Path, value string) error {
	cValue, err := encodeText("path", value)
	if err != nil {
		return err
	}
	return c.setPath(path, cValue)
}

// ResetPath makes the context read from the default place again. Errors are those of SetPath.
func (c *Context) ResetPath(path Path) error {
	return c.setPath(path, nil)
}

func (c *Context) setPath(path Path, value []byte) error {
	_, err := callContext(c, func(native raw.Context, failure *raw.Error) struct{} {
		native.SetPath(uint32(path), value, failure)
		return struct{}{}
	})
	return err
}

// Backend returns the status of a backend, which is opened if that was not tried yet. State and Status report a
// backend that is absent, off or failing; it is not an error. ErrRange: no such backend.
func (c *Context) Backend(ctx context.Context, backend Backend) (BackendInfo, error) {
	return awaitContext(ctx, c, func(native raw.Context, failure *raw.Error) BackendInfo {
		return convertRecord(native.Backend(uint32(backend), failure), newBackendInfo)
	})
}

// Recording returns everything that the backends of a context with ContextRecord have read so far, as a
// machine file. ErrState: the context does not record, or reads a simulated machine. ErrLimit: more was
// read than a machine file may have.
func (c *Context) Recording() (string, error) {
	return callContext(c, func(native raw.Context, failure *raw.Error) string {
		return native.Recording(failure)
	})
}

// Cancel ends the waiting of all calls, from any goroutine: until Resume, every call that waits for a
// driver or a snapshot, or would have to, returns ErrCancelled. Other calls work. The driver's call goes on;
// later readings use its answer.
func (c *Context) Cancel() error {
	_, err := callContext(c, func(native raw.Context, failure *raw.Error) struct{} {
		native.Cancel(failure)
		return struct{}{}
	})
	return err
}

// Resume lets calls wait again after Cancel.
func (c *Context) Resume() error {
	_, err := callContext(c, func(native raw.Context, failure *raw.Error) struct{} {
		native.Resume(failure)
		return struct{}{}
	})
	return err
}

// ProcessMemory reads the host memory of a process. fields selects values; 0: those that are cheap, resident
// and virtual. NotePartial reports that a requested field is missing. ErrRange: pid is 0.
// ErrUnknownFlag: an unknown bit in fields. ErrNoProcess: no such process, or a zombie. ErrUnsupported: a
// kernel thread, or this system lacks all of the fields. ErrPermission: the system refused.
func (c *Context) ProcessMemory(pid uint32, fields ProcessMemoryFields) (ProcessMemory, error) {
	return callContext(c, func(native raw.Context, failure *raw.Error) ProcessMemory {
		return convertRecord(native.ProcessMemory(pid, uint64(fields), failure), newProcessMemory)
	})
}

// OwnMemory reads the host memory of the calling process, as ProcessMemory does of another.
func (c *Context) OwnMemory(fields ProcessMemoryFields) (ProcessMemory, error) {
	return callContext(c, func(native raw.Context, failure *raw.Error) ProcessMemory {
		return convertRecord(native.OwnMemory(uint64(fields), failure), newProcessMemory)
	})
}

// SystemMemory reads the host's memory and the limit on this process. fields selects values; 0: all.
func (c *Context) SystemMemory(fields SystemMemoryFields) (SystemMemory, error) {
	return callContext(c, func(native raw.Context, failure *raw.Error) SystemMemory {
		return convertRecord(native.SystemMemory(uint64(fields), failure), newSystemMemory)
	})
}

// DeviceScan is the result of Scan.
type DeviceScan struct {
	Count      uint32 // device indexes, which never become fewer
	Generation uint64 // changes when a device is added, is gone or comes back
}

// Scan asks every source for its devices; the other methods use the result. An index belongs to one
// device for the context's life. A count of 0 without an error: there certainly is no device. Where none
// is known and a source failed, its error: ErrTimeout, ErrBackend (a driver or its library is broken, or
// they do not match), ErrPermission, ErrNoSource (no machine file). A scan that fails changes nothing.
func (c *Context) Scan(ctx context.Context) (DeviceScan, error) {
	return awaitContext(ctx, c, func(native raw.Context, failure *raw.Error) DeviceScan {
		var scan DeviceScan
		scan.Count = native.Scan(&scan.Generation, failure)
		return scan
	})
}

// FindDevice returns the index of the device that a key names: "uuid:GPU-…", "pci:0000:01:00.0",
// "luid:<hex>", "render:<minor>", "driver:<vendor>:<the vendor's index>". ErrArgument: no such kind of key,
// or the value cannot be one. ErrNoDevice: no device of the last scan has it.
func (c *Context) FindDevice(key string) (uint32, error) {
	cKey, err := encodeText("key", key)
	if err != nil {
		return 0, err
	}
	return callContext(c, func(native raw.Context, failure *raw.Error) uint32 {
		return native.FindDevice(cKey, failure)
	})
}

// Device returns the identity of a device from the last scan. State reports a device that is lost or
// asleep; it is not an error. ErrNoDevice: no device has had the index. fields selects values; 0: all.
func (c *Context) Device(index uint32, fields DeviceFields) (Device, error) {
	return callContext(c, func(native raw.Context, failure *raw.Error) Device {
		return convertRecord(native.Device(index, uint64(fields), failure), newDevice)
	})
}

// Pool reads the memory of a device; PoolMain is the pool that allocations come from. An instance from 1 is
// a part of the pool, 0 the whole. ErrNoDevice: no device has had the index. ErrRange: no such PoolKind.
// ErrUnsupported: the device has no such pool, or its driver no values for it. ErrDeviceLost, ErrAsleep,
// ErrPermission, ErrTimeout, ErrBackend, ErrNoSource: as named.
func (c *Context) Pool(ctx context.Context, index uint32, kind PoolKind, instance uint32, fields PoolFields) (Pool, error) {
	return awaitContext(ctx, c, func(native raw.Context, failure *raw.Error) Pool {
		return convertRecord(native.Pool(index, uint32(kind), instance, uint64(fields), failure), newPool)
	})
}

// Telemetry reads load, temperature and power of a device. fields selects values; 0: all that are cheap.
// ErrUnsupported: the device has none of them. Other errors are those of Pool.
func (c *Context) Telemetry(ctx context.Context, index uint32, fields TelemetryFields) (Telemetry, error) {
	return awaitContext(ctx, c, func(native raw.Context, failure *raw.Error) Telemetry {
		return convertRecord(native.Telemetry(index, uint64(fields), failure), newTelemetry)
	})
}

// Metric reads one number of the whole device, also one that takes long. ErrRange: no such MetricID.
// ErrUnsupported: not supported by this device or driver. Other errors are those of
// Pool. fields selects values; 0: all.
func (c *Context) Metric(ctx context.Context, index uint32, id MetricID, instance uint32, fields MetricFields) (Metric, error) {
	return awaitContext(ctx, c, func(native raw.Context, failure *raw.Error) Metric {
		return convertRecord(native.Metric(index, uint32(id), instance, uint64(fields), failure), newMetric)
	})
}

// Usage reads what a process uses on a device; pid is as the driver counts it. ErrRange: pid is 0.
// ErrNoProcess: the driver lists no such process on the device. Other errors are those of Pool. fields
// selects values; 0: all.
func (c *Context) Usage(ctx context.Context, index, pid uint32, fields UsageFields) (Usage, error) {
	return awaitContext(ctx, c, func(native raw.Context, failure *raw.Error) Usage {
		return convertRecord(native.Usage(index, pid, uint64(fields), failure), newUsage)
	})
}

// OwnUsage reads what the calling process uses on a device. 0 bytes is reported only where the driver's list
// certainly includes the caller; otherwise the error is ErrNoSource. fields selects values; 0: all.
func (c *Context) OwnUsage(ctx context.Context, index uint32, fields UsageFields) (Usage, error) {
	return awaitContext(ctx, c, func(native raw.Context, failure *raw.Error) Usage {
		return convertRecord(native.OwnUsage(index, uint64(fields), failure), newUsage)
	})
}
