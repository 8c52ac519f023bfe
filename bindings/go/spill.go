// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"context"
	"runtime"
	"time"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// SpillOptions configure a spill detector. The zero value, and nil, mean every default.
type SpillOptions struct {
	EpisodeCapacity         uint32 // episodes kept; 0 is 1024
	DedicatedThresholdBytes uint64 // 0 is 85 % of the device's memory
	GrowthBytes             uint64 // over the first observation; 0 is 256 MiB
}

// SpillSample has values from another source.
type SpillSample struct {
	Monotonic      time.Duration // as Monotonic returns it; 0 is now
	DedicatedBytes uint64
	SharedBytes    uint64
	LimitBytes     Optional[uint64]
	EvictedBytes   Optional[uint64]
}

// Spill detects device memory that moves to the host. It may be used by any number of goroutines at the same
// time, and outlives its context.
type Spill struct {
	native raw.Spill
	handle *handle
}

func newSpill(native raw.Spill, err error) (*Spill, error) {
	if err != nil {
		return nil, err
	}
	return &Spill{native, newHandle(func() { raw.DeleteSpill(native) })}, nil
}

func spillOptionsOrDefault(options *SpillOptions) SpillOptions {
	if options == nil {
		return SpillOptions{}
	}
	return *options
}

// NewSpill makes a detector that reads a device; no driver is asked yet. ErrRange: EpisodeCapacity is above
// 65536. Close it; otherwise it is closed some time after it becomes garbage.
func (c *Context) NewSpill(deviceIndex uint32, options *SpillOptions) (*Spill, error) {
	settings := spillOptionsOrDefault(options)
	return newSpill(callContext(c, func(native raw.Context, failure *raw.Error) raw.Spill {
		return native.Spill(deviceIndex, settings.EpisodeCapacity, settings.DedicatedThresholdBytes,
			settings.GrowthBytes, failure)
	}))
}

// NewLoneSpill makes a detector without a context, which takes values by Feed, or a device of snapshots.
func NewLoneSpill(deviceIndex uint32, options *SpillOptions) (*Spill, error) {
	settings := spillOptionsOrDefault(options)
	failure := raw.NewError()
	return newSpill(checkResult(raw.LoneSpill(deviceIndex, settings.EpisodeCapacity, settings.DedicatedThresholdBytes,
		settings.GrowthBytes, failure), failure))
}

// Close closes the detector and waits for no driver. Closing again does nothing.
func (s *Spill) Close() error {
	if s != nil {
		s.handle.close()
	}
	return nil
}

// callSpill makes a call on a detector, which stays until the call has returned.
func callSpill[T any](s *Spill, call func(native raw.Spill, failure *raw.Error) T) (T, error) {
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

// callWithLabel makes a call with a label.
func (s *Spill) callWithLabel(label string, call func(native raw.Spill, cLabel []byte, failure *raw.Error)) error {
	cLabel, err := encodeText("label", label)
	if err != nil {
		return err
	}
	_, err = callSpill(s, func(native raw.Spill, failure *raw.Error) struct{} {
		call(native, cLabel, failure)
		return struct{}{}
	})
	return err
}

// Observe reads the device; the label names the observation. ErrUnsupported: the device does not report it; see
// also Info. Other errors are those of Pool.
func (s *Spill) Observe(ctx context.Context, label string) error {
	_, err := await(ctx, func() (struct{}, error) {
		return struct{}{}, s.callWithLabel(label, func(native raw.Spill, cLabel []byte, failure *raw.Error) {
			native.Observe(cLabel, failure)
		})
	}, nil)
	return err
}

// ObserveSnapshot reads the device from a snapshot with CollectPools and CollectProcesses. ErrEmpty: the
// snapshot has no values of it. ErrNoDevice: the snapshot does not have it.
func (s *Spill) ObserveSnapshot(snapshot *Snapshot, label string) error {
	if snapshot == nil || !snapshot.handle.enter() {
		return ErrClosed
	}
	defer snapshot.handle.leave()
	defer runtime.KeepAlive(snapshot)
	return s.callWithLabel(label, func(native raw.Spill, cLabel []byte, failure *raw.Error) {
		native.ObserveSnapshot(snapshot.native, cLabel, failure)
	})
}

// Feed takes values from another source.
func (s *Spill) Feed(sample SpillSample, label string) error {
	var flags uint32
	var converter durationConverter
	monotonic := converter.ns("Monotonic", sample.Monotonic)
	if converter.err != nil {
		return converter.err
	}
	limit, hasLimit := sample.LimitBytes.Get()
	if hasLimit {
		flags |= spillSampleHasLimit
	}
	evicted, hasEvicted := sample.EvictedBytes.Get()
	if hasEvicted {
		flags |= spillSampleHasEvicted
	}
	return s.callWithLabel(label, func(native raw.Spill, cLabel []byte, failure *raw.Error) {
		native.Feed(flags, monotonic, sample.DedicatedBytes, sample.SharedBytes, limit, evicted,
			cLabel, failure)
	})
}

// Info returns what the detector has observed so far.
func (s *Spill) Info() (SpillInfo, error) {
	return callSpill(s, func(native raw.Spill, failure *raw.Error) SpillInfo {
		return convertRecord(native.Info(failure), newSpillInfo)
	})
}

// Episode returns an episode by its number, from 0. ErrRange: it has not begun yet, or was dropped.
func (s *Spill) Episode(number uint64) (Episode, error) {
	return callSpill(s, func(native raw.Spill, failure *raw.Error) Episode {
		return convertRecord(native.Episode(number, failure), newEpisode)
	})
}
