// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"runtime"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// callSnapshot makes a call on a snapshot, which stays until the call has returned.
func callSnapshot[T any](s *Snapshot, call func(native raw.Snapshot, failure *raw.Error) T) (T, error) {
	if s == nil || !s.handle.enter() {
		var zero T
		return zero, ErrClosed
	}
	defer s.handle.leave()
	failure := raw.NewError()
	result := call(s.native, failure)
	runtime.KeepAlive(s)
	return checkResult(result, failure)
}

// callSnapshots makes a call on two snapshots. A nil before is passed to C, which refuses it.
func callSnapshots[T any](before, after *Snapshot,
	call func(before, after raw.Snapshot, failure *raw.Error) T) (T, error) {
	var earlier raw.Snapshot = raw.SwigcptrSnapshot(0)
	if before != nil {
		if !before.handle.enter() {
			var zero T
			return zero, ErrClosed
		}
		defer before.handle.leave()
		earlier = before.native
	}
	result, err := callSnapshot(after, func(native raw.Snapshot, failure *raw.Error) T {
		return call(earlier, native, failure)
	})
	runtime.KeepAlive(before)
	return result, err
}

// requireText returns an error for an empty text, whose values are not known.
func requireText(text string, err error) (string, error) {
	if err == nil && text == "" {
		err = newRefusal(StatusEmpty, "a value that the text needs is not known")
	}
	return text, err
}

// JSON returns the whole snapshot as one JSON object. Numbers are numbers, what is unknown is null.
func (s *Snapshot) JSON() (string, error) {
	return callSnapshot(s, func(native raw.Snapshot, failure *raw.Error) string {
		return native.Json(failure)
	})
}

// DevicePool returns a memory pool of a device; PoolMain is the pool that allocations come from.
// ErrNoDevice: the snapshot does not have the device. ErrRange: no such PoolKind. ErrEmpty: the device has
// no such pool.
func (s *Snapshot) DevicePool(deviceIndex uint32, kind PoolKind, instance uint32) (Pool, error) {
	record, err := callSnapshot(s, func(native raw.Snapshot, failure *raw.Error) *raw.Pool {
		return native.DevicePool(deviceIndex, uint32(kind), instance, failure)
	})
	if err == nil && record == nil {
		err = newRefusal(StatusEmpty, "the device has no such pool")
	}
	return convertRecord(record, newPool), err
}

// DeviceLine returns a device as one line, for instance "  GPU 0: free 13284 MiB / 16384 MiB [name]\n".
// ErrNoDevice: the snapshot does not have the device. ErrRange: no such Format. ErrEmpty: a value is not
// known.
func (s *Snapshot) DeviceLine(deviceIndex uint32, format Format, flags LineFlags) (string, error) {
	return requireText(callSnapshot(s, func(native raw.Snapshot, failure *raw.Error) string {
		return native.DeviceLine(deviceIndex, uint32(format), uint32(flags), failure)
	}))
}

// DeltaSince returns what changed since an earlier snapshot, on a device (by its index) and on the host.
// ErrNoDevice: neither snapshot has the device. ErrArgument: before is nil, or the later one. ErrEmpty:
// the snapshots have nothing in common.
func (s *Snapshot) DeltaSince(before *Snapshot, deviceIndex uint32) (Delta, error) {
	record, err := callSnapshots(before, s, func(before, after raw.Snapshot, failure *raw.Error) *raw.Delta {
		return after.DeltaSince(before, deviceIndex, failure)
	})
	if err == nil && record == nil {
		err = newRefusal(StatusEmpty, "the snapshots have nothing in common")
	}
	return convertRecord(record, newDelta), err
}

// DeltaLine returns the change as one line: "  label: RAM +100 MiB  |  VRAM +500 MiB [per-process]\n"; without
// the second part when it is not known on one side. ErrEmpty: host memory is missing on one side.
func (s *Snapshot) DeltaLine(before *Snapshot, deviceIndex uint32, label string, flags LineFlags) (string, error) {
	cLabel, err := encodeText("label", label)
	if err != nil {
		return "", err
	}
	return requireText(callSnapshots(before, s, func(before, after raw.Snapshot, failure *raw.Error) string {
		return after.DeltaLine(before, deviceIndex, cLabel, uint32(flags), failure)
	}))
}

// BeforeAfterLines returns both values and the change, one line for RAM and one for VRAM. Errors are those of
// DeltaLine.
func (s *Snapshot) BeforeAfterLines(before *Snapshot, deviceIndex uint32, label string,
	flags LineFlags) (string, error) {
	cLabel, err := encodeText("label", label)
	if err != nil {
		return "", err
	}
	return requireText(callSnapshots(before, s, func(before, after raw.Snapshot, failure *raw.Error) string {
		return after.BeforeAfterLines(before, deviceIndex, cLabel, uint32(flags), failure)
	}))
}
