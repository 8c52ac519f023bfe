// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"runtime"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// look makes a call on a snapshot that stays until the call has returned.
func look[T any](s *Snapshot, call func(native raw.Snapshot, failure *raw.Error) T) (T, error) {
	if s == nil || !s.open.enter() {
		var nothing T
		return nothing, ErrClosed
	}
	defer s.open.leave()
	failure := raw.NewError()
	answer := call(s.native, failure)
	runtime.KeepAlive(s)
	return checked(answer, failure)
}

// between makes a call on two snapshots. A nil `before` goes to C, which refuses it.
func between[T any](before, after *Snapshot,
	call func(before, after raw.Snapshot, failure *raw.Error) T) (T, error) {
	var earlier raw.Snapshot = raw.SwigcptrSnapshot(0)
	if before != nil {
		if !before.open.enter() {
			var nothing T
			return nothing, ErrClosed
		}
		defer before.open.leave()
		earlier = before.native
	}
	answer, err := look(after, func(native raw.Snapshot, failure *raw.Error) T {
		return call(earlier, native, failure)
	})
	runtime.KeepAlive(before)
	return answer, err
}

// line is a text that is never empty when it is there.
func line(text string, err error) (string, error) {
	if err == nil && text == "" {
		err = refusal(StatusEmpty, "a value that the text needs is not known")
	}
	return text, err
}

// JSON is the whole snapshot as one JSON object. Numbers are numbers, what is unknown is null.
func (s *Snapshot) JSON() (string, error) {
	return look(s, func(native raw.Snapshot, failure *raw.Error) string {
		return native.Json(failure)
	})
}

// DevicePool is a memory pool of a device; PoolMain is the pool that allocations come from. ErrNoDevice: the
// snapshot does not have the device. ErrRange: no such PoolKind. ErrEmpty: the device has no such pool.
func (s *Snapshot) DevicePool(deviceIndex uint32, kind PoolKind, instance uint32) (Pool, error) {
	record, err := look(s, func(native raw.Snapshot, failure *raw.Error) *raw.Pool {
		return native.DevicePool(deviceIndex, uint32(kind), instance, failure)
	})
	if err == nil && record == nil {
		err = refusal(StatusEmpty, "the device has no such pool")
	}
	return converted(record, newPool), err
}

// DeviceLine is a device as one line, for instance "  GPU 0: free 13284 MiB / 16384 MiB [name]\n".
// ErrNoDevice: the snapshot does not have the device. ErrRange: no such Format. ErrEmpty: a value is not
// known.
func (s *Snapshot) DeviceLine(deviceIndex uint32, format Format, flags LineFlags) (string, error) {
	return line(look(s, func(native raw.Snapshot, failure *raw.Error) string {
		return native.DeviceLine(deviceIndex, uint32(format), uint32(flags), failure)
	}))
}

// DeltaSince is what changed since an earlier snapshot, on a device (by its index) and on the host.
// ErrNoDevice: neither snapshot has the device. ErrArgument: before is nil, or the later one. ErrEmpty:
// the snapshots have nothing in common.
func (s *Snapshot) DeltaSince(before *Snapshot, deviceIndex uint32) (Delta, error) {
	record, err := between(before, s, func(before, after raw.Snapshot, failure *raw.Error) *raw.Delta {
		return after.DeltaSince(before, deviceIndex, failure)
	})
	if err == nil && record == nil {
		err = refusal(StatusEmpty, "the snapshots have nothing in common")
	}
	return converted(record, newDelta), err
}

// DeltaLine is the change as one line: "  label: RAM +100 MiB  |  VRAM +500 MiB [per-process]\n"; without the second part when a side does not know it. ErrEmpty: host memory is missing on a side.
func (s *Snapshot) DeltaLine(before *Snapshot, deviceIndex uint32, label string, flags LineFlags) (string, error) {
	given, err := argument("label", label)
	if err != nil {
		return "", err
	}
	return line(between(before, s, func(before, after raw.Snapshot, failure *raw.Error) string {
		return after.DeltaLine(before, deviceIndex, given, uint32(flags), failure)
	}))
}

// BeforeAfterLines are both values and the change, one line for RAM and one for VRAM. Errors are those of
// DeltaLine.
func (s *Snapshot) BeforeAfterLines(before *Snapshot, deviceIndex uint32, label string,
	flags LineFlags) (string, error) {
	given, err := argument("label", label)
	if err != nil {
		return "", err
	}
	return line(between(before, s, func(before, after raw.Snapshot, failure *raw.Error) string {
		return after.BeforeAfterLines(before, deviceIndex, given, uint32(flags), failure)
	}))
}
