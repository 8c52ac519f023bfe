// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"runtime"
	"time"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// ContextOptions configure a context. The zero value, and nil, mean every default.
type ContextOptions struct {
	Flags         ContextFlags
	Deadline      time.Duration // longest that one call may wait for drivers; 0 is 1 s
	Stale         time.Duration // oldest value given instead of ErrTimeout; 0 is 5 s
	OpenDeadline  time.Duration // longest wait for a vendor library to open; 0 is 10 s
	MaxAge        time.Duration // readings this young share one driver call; 0: none do
	IdleClose     time.Duration // a vendor library whose GPU may sleep is shut down this long after use; 0 is 2 s
	Rescan        time.Duration // all processes are looked through for GPU clients this often, known clients at each reading; 0 is 2 s
	BackendsOff   uint64        // bit n disables backend n
	DeviceClasses uint32        // bit n lists devices of class n; 0 is GPUs alone
	RescanPercent uint32        // most processor time for Rescan, in percent of a core; 0 is 2, 100 is no limit
}

// Context holds sources of measurement, opened once and kept. It may be used by any number of goroutines
// at once.
type Context struct {
	native raw.Context
	open   *handle
}

// NewContext makes a context; it touches no driver yet. Close it; one that is forgotten is closed some
// time after the garbage collector finds it.
func NewContext(options *ContextOptions) (*Context, error) {
	var given ContextOptions
	if options != nil {
		given = *options
	}
	var d durations
	deadline, stale := d.ns("Deadline", given.Deadline), d.ns("Stale", given.Stale)
	openDeadline, maxAge := d.ns("OpenDeadline", given.OpenDeadline), d.ns("MaxAge", given.MaxAge)
	idleClose, rescan := d.ns("IdleClose", given.IdleClose), d.ns("Rescan", given.Rescan)
	if d.err != nil {
		return nil, d.err
	}
	failure := raw.NewError()
	native := raw.NewContext(uint32(given.Flags), deadline, stale, openDeadline, maxAge, idleClose, rescan,
		given.BackendsOff, given.RescanPercent, given.DeviceClasses, failure)
	if failure.Status != 0 {
		return nil, newError(failure)
	}
	return &Context{native, newHandle(func() { raw.DeleteContext(native) })}, nil
}

// Close ends the context. It never waits for a driver: calls that are inside go on and end as they would
// have. Closing again does nothing, and snapshots outlive their context.
func (c *Context) Close() error {
	if c != nil {
		c.open.close()
	}
	return nil
}

// ask makes a call on a context that stays until the call has returned.
func ask[T any](c *Context, call func(native raw.Context, failure *raw.Error) T) (T, error) {
	if c == nil || !c.open.enter() {
		var nothing T
		return nothing, ErrClosed
	}
	defer c.open.leave()
	failure := raw.NewError()
	answer := call(c.native, failure)
	runtime.KeepAlive(c)
	return checked(answer, failure)
}

// SetPath makes the context read from another place than the default: an absolute path. Whether
// something is there shows at the first reading. ErrArgument: not absolute, empty, or too long.
// ErrRange: no such Path. ErrState: a reading was already made with this context. ErrUnsupported: the
// backend it is for is not compiled in.
func (c *Context) SetPath(path Path, value string) error {
	given, err := argument("path", value)
	if err != nil {
		return err
	}
	return c.setPath(path, given)
}

// ResetPath makes the context read from the default place again. Errors are those of SetPath.
func (c *Context) ResetPath(path Path) error {
	return c.setPath(path, nil)
}

func (c *Context) setPath(path Path, value []byte) error {
	_, err := ask(c, func(native raw.Context, failure *raw.Error) struct{} {
		native.SetPath(uint32(path), value, failure)
		return struct{}{}
	})
	return err
}

// Backend returns the status of a backend; it is opened if that was not tried yet. One that is absent, off or
// failing is no error here, but reported by State and Status. ErrRange: no such backend.
func (c *Context) Backend(backend Backend) (BackendInfo, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) BackendInfo {
		return converted(native.Backend(uint32(backend), failure), newBackendInfo)
	})
}

// Recording is what the backends of a context with ContextRecord have read so far, as a machine file.
// ErrState: the context does not record, or reads a simulated machine. ErrLimit: more was read than a
// machine file may have.
func (c *Context) Recording() (string, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) string {
		return native.Recording(failure)
	})
}

// Cancel ends the waiting of all calls, from any goroutine: until Resume, every call that waits for a
// driver or a snapshot, or would have to, returns ErrCancelled. What need not wait works. The driver's call
// goes on; later readings have its answer.
func (c *Context) Cancel() error {
	_, err := ask(c, func(native raw.Context, failure *raw.Error) struct{} {
		native.Cancel(failure)
		return struct{}{}
	})
	return err
}

// Resume lets calls wait again after Cancel.
func (c *Context) Resume() error {
	_, err := ask(c, func(native raw.Context, failure *raw.Error) struct{} {
		native.Resume(failure)
		return struct{}{}
	})
	return err
}

// ProcessMemory reads the host memory of a process. fields select what is wanted; 0: what is cheap, resident
// and virtual. A field that was asked for and is missing leaves NotePartial. ErrRange: pid is 0.
// ErrUnknownFlag: an unknown bit in fields. ErrNoProcess: no such process, or a zombie. ErrUnsupported: a
// kernel thread, or this system lacks all of the fields. ErrPermission: the system refused.
func (c *Context) ProcessMemory(pid uint32, fields ProcessMemoryFields) (ProcessMemory, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) ProcessMemory {
		return converted(native.ProcessMemory(pid, uint64(fields), failure), newProcessMemory)
	})
}

// OwnMemory reads the host memory of the calling process, as ProcessMemory does of another.
func (c *Context) OwnMemory(fields ProcessMemoryFields) (ProcessMemory, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) ProcessMemory {
		return converted(native.OwnMemory(uint64(fields), failure), newProcessMemory)
	})
}

// SystemMemory reads the host's memory and the limit on this process. fields select what is wanted; 0: all.
func (c *Context) SystemMemory(fields SystemMemoryFields) (SystemMemory, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) SystemMemory {
		return converted(native.SystemMemory(uint64(fields), failure), newSystemMemory)
	})
}

// DeviceScan is what Scan has found.
type DeviceScan struct {
	Count      uint32 // of device indexes, which never shrinks
	Generation uint64 // changes when a device is added, is gone or comes back
}

// Scan asks every source for its devices; the other methods use what it found. An index belongs to one
// device for the context's life. A count of 0 without an error: there certainly is no device. Where none
// is known and a source failed, its error: ErrTimeout, ErrBackend (a driver or its library is broken, or
// they do not match), ErrPermission, ErrNoSource (no machine file). A scan that fails changes nothing.
func (c *Context) Scan() (DeviceScan, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) DeviceScan {
		var found DeviceScan
		found.Count = native.Scan(&found.Generation, failure)
		return found
	})
}

// FindDevice is the index of the device that a key names: "uuid:GPU-…", "pci:0000:01:00.0",
// "luid:<hex>", "render:<minor>", "driver:<vendor>:<the vendor's index>". ErrArgument: no such kind of key, or the
// value cannot be one. ErrNoDevice: no device of the last scan has it.
func (c *Context) FindDevice(key string) (uint32, error) {
	given, err := argument("key", key)
	if err != nil {
		return 0, err
	}
	return ask(c, func(native raw.Context, failure *raw.Error) uint32 {
		return native.FindDevice(given, failure)
	})
}

// Device returns the identity of a device. One that is lost or asleep is no error, but reported by State. It is as of
// the last scan. ErrNoDevice: the index was never given. fields select what is wanted; 0: all.
func (c *Context) Device(index uint32, fields DeviceFields) (Device, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) Device {
		return converted(native.Device(index, uint64(fields), failure), newDevice)
	})
}

// Pool reads the memory of a device; PoolMain is the pool that allocations come from. An instance from 1
// is a part of the pool, 0 the whole. ErrNoDevice: the
// index was never given. ErrRange: no such PoolKind. ErrUnsupported: the device has no such pool, or its
// driver no values for it. ErrDeviceLost, ErrAsleep, ErrPermission, ErrTimeout, ErrBackend, ErrNoSource:
// as named.
func (c *Context) Pool(index uint32, kind PoolKind, instance uint32, fields PoolFields) (Pool, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) Pool {
		return converted(native.Pool(index, uint32(kind), instance, uint64(fields), failure), newPool)
	})
}

// Telemetry reads load, temperature and power of a device. fields select what is wanted; 0: all that are
// cheap. ErrUnsupported: the device has none of them. Other errors are those of Pool.
func (c *Context) Telemetry(index uint32, fields TelemetryFields) (Telemetry, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) Telemetry {
		return converted(native.Telemetry(index, uint64(fields), failure), newTelemetry)
	})
}

// Metric reads one number of the whole device, also one that takes long. ErrRange: no such MetricID.
// ErrUnsupported: not supported by this device or driver. Other errors are those of
// Pool. fields select what is wanted; 0: all.
func (c *Context) Metric(index uint32, id MetricID, instance uint32, fields MetricFields) (Metric, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) Metric {
		return converted(native.Metric(index, uint32(id), instance, uint64(fields), failure), newMetric)
	})
}

// Usage reads what a process uses on a device; pid is as the driver counts it. ErrRange: pid is 0.
// ErrNoProcess: the driver lists no such process on the device. Other errors are those of Pool. fields
// select what is wanted; 0: all.
func (c *Context) Usage(index, pid uint32, fields UsageFields) (Usage, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) Usage {
		return converted(native.Usage(index, pid, uint64(fields), failure), newUsage)
	})
}

// OwnUsage reads what the calling process uses on a device. 0 bytes is reported only where the driver's list
// can be trusted to hold the caller; else it is ErrNoSource. fields select what is wanted; 0: all.
func (c *Context) OwnUsage(index uint32, fields UsageFields) (Usage, error) {
	return ask(c, func(native raw.Context, failure *raw.Error) Usage {
		return converted(native.OwnUsage(index, uint64(fields), failure), newUsage)
	})
}
