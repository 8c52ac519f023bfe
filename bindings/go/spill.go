// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"runtime"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// SpillOptions configure a spill detector. The zero value, and nil, mean every default.
type SpillOptions struct {
	EpisodeCapacity         uint32 // episodes kept; 0 is 1024
	DedicatedThresholdBytes uint64 // 0 is 85 % of the device's memory
	GrowthBytes             uint64 // over the first observation; 0 is 256 MiB
}

// SpillSample is values from elsewhere.
type SpillSample struct {
	MonotonicNs    uint64 // 0 is now
	DedicatedBytes uint64
	SharedBytes    uint64
	LimitBytes     Optional[uint64]
	EvictedBytes   Optional[uint64]
}

// Spill detects device memory that moves to the host. It may be used by any number of goroutines at once,
// and outlives its context.
type Spill struct {
	native raw.Spill
	open   *handle
}

func newSpill(native raw.Spill, err error) (*Spill, error) {
	if err != nil {
		return nil, err
	}
	return &Spill{native, newHandle(func() { raw.DeleteSpill(native) })}, nil
}

func spillOptions(options *SpillOptions) SpillOptions {
	if options == nil {
		return SpillOptions{}
	}
	return *options
}

// NewSpill makes a detector that reads a device; no driver is asked yet. ErrRange: EpisodeCapacity is above
// 65536. Close it; one that is forgotten is closed some time after the garbage collector finds it.
func (c *Context) NewSpill(deviceIndex uint32, options *SpillOptions) (*Spill, error) {
	given := spillOptions(options)
	return newSpill(ask(c, func(native raw.Context, failure *raw.Error) raw.Spill {
		return native.Spill(deviceIndex, given.EpisodeCapacity, given.DedicatedThresholdBytes,
			given.GrowthBytes, failure)
	}))
}

// NewLoneSpill makes a detector without a context: it is fed, or observes the device of snapshots.
func NewLoneSpill(deviceIndex uint32, options *SpillOptions) (*Spill, error) {
	given := spillOptions(options)
	failure := raw.NewError()
	return newSpill(checked(raw.LoneSpill(deviceIndex, given.EpisodeCapacity, given.DedicatedThresholdBytes,
		given.GrowthBytes, failure), failure))
}

// Close ends the detector and waits for no driver. Closing again does nothing.
func (s *Spill) Close() error {
	if s != nil {
		s.open.close()
	}
	return nil
}

// askSpill makes a call on a detector that stays until the call has returned.
func askSpill[T any](s *Spill, call func(native raw.Spill, failure *raw.Error) T) (T, error) {
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

// labelled makes a call with a label.
func (s *Spill) labelled(label string, call func(native raw.Spill, label []byte, failure *raw.Error)) error {
	given, err := argument("label", label)
	if err != nil {
		return err
	}
	_, err = askSpill(s, func(native raw.Spill, failure *raw.Error) struct{} {
		call(native, given, failure)
		return struct{}{}
	})
	return err
}

// Observe reads the device; the label names the moment. ErrUnsupported: the device does not report it; see also Info.
// Other errors are those of Pool.
func (s *Spill) Observe(label string) error {
	return s.labelled(label, func(native raw.Spill, given []byte, failure *raw.Error) {
		native.Observe(given, failure)
	})
}

// ObserveSnapshot takes the device of a snapshot with CollectPools and CollectProcesses. ErrEmpty: it has no
// values. ErrNoDevice: it has no such device.
func (s *Spill) ObserveSnapshot(snapshot *Snapshot, label string) error {
	if snapshot == nil || !snapshot.open.enter() {
		return ErrClosed
	}
	defer snapshot.open.leave()
	defer runtime.KeepAlive(snapshot)
	return s.labelled(label, func(native raw.Spill, given []byte, failure *raw.Error) {
		native.ObserveSnapshot(snapshot.native, given, failure)
	})
}

// Feed takes values from elsewhere.
func (s *Spill) Feed(sample SpillSample, label string) error {
	var flags uint32
	limit, hasLimit := sample.LimitBytes.Get()
	if hasLimit {
		flags |= spillSampleHasLimit
	}
	evicted, hasEvicted := sample.EvictedBytes.Get()
	if hasEvicted {
		flags |= spillSampleHasEvicted
	}
	return s.labelled(label, func(native raw.Spill, given []byte, failure *raw.Error) {
		native.Feed(flags, sample.MonotonicNs, sample.DedicatedBytes, sample.SharedBytes, limit, evicted,
			given, failure)
	})
}

// Info is what the detector has seen.
func (s *Spill) Info() (SpillInfo, error) {
	return askSpill(s, func(native raw.Spill, failure *raw.Error) SpillInfo {
		return converted(native.Info(failure), newSpillInfo)
	})
}

// Episode is one by its number, from 0. ErrRange: it has not begun yet, or was dropped.
func (s *Spill) Episode(number uint64) (Episode, error) {
	return askSpill(s, func(native raw.Spill, failure *raw.Error) Episode {
		return converted(native.Episode(number, failure), newEpisode)
	})
}
