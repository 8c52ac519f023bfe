// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// SamplerOptions configure a sampler. The zero value, and nil, mean every default.
type SamplerOptions struct {
	Flags           SamplerFlags
	Interval        time.Duration // from one snapshot to the next; 0 is 1 s
	ProcessInterval time.Duration // the same for those with processes; 0 is 1 s
	Capacity        uint32        // snapshots kept until they are pulled; 0 is 64
}

// Sampler is a thread that takes snapshots on a schedule. It may be used by any number of goroutines at the
// same time, and outlives its context.
type Sampler struct {
	native raw.Sampler
	handle *handle
}

// NewSampler makes a sampler, which is not started yet. Each snapshot is taken with contents; its Collect
// 0, and nil, mean devices, pools and telemetry. ErrRange: Capacity is above 65536. Other errors are those
// of Take. Close it; otherwise it is closed some time after it becomes garbage.
func (c *Context) NewSampler(options *SamplerOptions, contents *SnapshotOptions) (*Sampler, error) {
	var settings SamplerOptions
	if options != nil {
		settings = *options
	}
	var snapshotSettings SnapshotOptions
	if contents != nil {
		snapshotSettings = *contents
	}
	var converter durationConverter
	interval := converter.ns("Interval", settings.Interval)
	processInterval := converter.ns("ProcessInterval", settings.ProcessInterval)
	deadline := converter.ns("Deadline", snapshotSettings.Deadline)
	if converter.err != nil {
		return nil, converter.err
	}
	native, err := callContext(c, func(native raw.Context, failure *raw.Error) raw.Sampler {
		return native.Sampler(uint32(settings.Flags), interval, processInterval, settings.Capacity,
			uint32(snapshotSettings.Flags), uint32(snapshotSettings.Collect), snapshotSettings.DeviceIndex,
			snapshotSettings.PID, deadline, failure)
	})
	if err != nil {
		return nil, err
	}
	return &Sampler{native, newHandle(func() { raw.DeleteSampler(native) })}, nil
}

// Close stops the sampler, wakes callers that wait in Next, and waits for no driver. Closing again does
// nothing.
func (s *Sampler) Close() error {
	if s == nil {
		return nil
	}
	_ = s.Stop()
	s.handle.close()
	return nil
}

// callSampler makes a call on a sampler, which stays until the call has returned.
func callSampler[T any](s *Sampler, call func(native raw.Sampler, failure *raw.Error) T) (T, error) {
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

// Start starts the sampler, which works once. ErrState: it was started before. ErrUnsupported: the context
// has ContextNoThreads. ErrLimit: the system cannot create a thread.
func (s *Sampler) Start() error {
	_, err := callSampler(s, func(native raw.Sampler, failure *raw.Error) struct{} {
		native.Start(failure)
		return struct{}{}
	})
	return err
}

// Stop stops the sampler permanently and wakes callers that wait in Next. It waits for no driver. ErrState: it
// was never started.
func (s *Sampler) Stop() error {
	_, err := callSampler(s, func(native raw.Sampler, failure *raw.Error) struct{} {
		native.Stop(failure)
		return struct{}{}
	})
	return err
}

// Next pulls the oldest snapshot that was not pulled yet, and waits for one until ctx ends: then its error is ctx's,
// and the sampler and other callers go on. io.EOF: no snapshot follows, because the sampler was stopped and all were
// pulled. ErrState: it was not started, or keeps none. ErrCancelled: its context was cancelled. Close the snapshot.
//
// Callers that wait need no thread: Go's poller waits for all of them.
func (s *Sampler) Next(ctx context.Context) (*Snapshot, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	snapshot, err := s.pull(0)
	if !errors.Is(err, ErrEmpty) {
		return snapshot, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.wait(ctx)
}

// All returns the snapshots from now on, for a loop with range of Go 1.23 and newer. The loop ends when the sampler
// is stopped, or with an error, which is that of Next. Close each snapshot.
func (s *Sampler) All(ctx context.Context) func(yield func(*Snapshot, error) bool) {
	return func(yield func(*Snapshot, error) bool) {
		for {
			snapshot, err := s.Next(ctx)
			if err == io.EOF || !yield(snapshot, err) || err != nil {
				return
			}
		}
	}
}

// pull returns a snapshot, waiting in C until the timeout, or io.EOF where none will follow.
func (s *Sampler) pull(timeout time.Duration) (*Snapshot, error) {
	native, err := callSampler(s, func(native raw.Sampler, failure *raw.Error) raw.Snapshot {
		return native.Next(uint64(timeout), failure)
	})
	if errors.Is(err, ErrState) {
		info, failure := s.Info()
		if failure != nil { // closed in the meantime
			return nil, failure
		}
		if info.State == SamplerStateStopped {
			return nil, io.EOF
		}
	}
	if err != nil {
		return nil, err
	}
	return newSnapshot(native)
}

// Handle returns the handle for an event loop: a descriptor to poll, on Windows a HANDLE, ready whenever Next
// would not wait. The sampler owns and closes it; for os.NewFile, which closes too, duplicate it first. ErrLimit: the
// system cannot create one.
func (s *Sampler) Handle() (int64, error) {
	return callSampler(s, func(native raw.Sampler, failure *raw.Error) int64 {
		return native.Handle(failure)
	})
}

// Info returns the status of the sampler.
func (s *Sampler) Info() (SamplerInfo, error) {
	return callSampler(s, func(native raw.Sampler, failure *raw.Error) SamplerInfo {
		return convertRecord(native.Info(failure), newSamplerInfo)
	})
}

// optionalRecord converts a record that may be nil.
func optionalRecord[R, T any](record *R, convert func(*R) T) Optional[T] {
	if record == nil {
		return Optional[T]{}
	}
	return Some(convert(record))
}

// LatestPool returns the main pool of a device in the latest snapshot; absent where there is none. It asks
// no driver and never waits, so that it can be called for every frame. ErrNoDevice: no snapshot has had a
// device of that index.
func (s *Sampler) LatestPool(index uint32) (Optional[Pool], error) {
	return callSampler(s, func(native raw.Sampler, failure *raw.Error) Optional[Pool] {
		return optionalRecord(native.LatestPool(index, failure), newPool)
	})
}

// LatestTelemetry returns load, temperature and power in the same way.
func (s *Sampler) LatestTelemetry(index uint32) (Optional[Telemetry], error) {
	return callSampler(s, func(native raw.Sampler, failure *raw.Error) Optional[Telemetry] {
		return optionalRecord(native.LatestTelemetry(index, failure), newTelemetry)
	})
}

// Peak returns the most memory that a process has used on a device. ErrNoProcess: it was not seen there.
// ErrRange: pid is 0. ErrNoDevice: no snapshot has had a device of that index.
func (s *Sampler) Peak(index, pid uint32) (Peak, error) {
	return callSampler(s, func(native raw.Sampler, failure *raw.Error) Peak {
		return convertRecord(native.Peak(index, pid, failure), newPeak)
	})
}

// DevicePeak returns the most memory that was used on a device; absent where no snapshot has had its values.
func (s *Sampler) DevicePeak(index uint32) (Optional[Peak], error) {
	return callSampler(s, func(native raw.Sampler, failure *raw.Error) Optional[Peak] {
		return optionalRecord(native.DevicePeak(index, failure), newPeak)
	})
}
