// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"runtime"
	"time"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// SamplerOptions configure a sampler. The zero value, and nil, mean every default.
type SamplerOptions struct {
	Flags           SamplerFlags
	Interval        time.Duration // from one snapshot to the next; 0 is 1 s
	ProcessInterval time.Duration // the same of those with processes; 0 is 1 s
	Capacity        uint32        // snapshots kept until they are pulled; 0 is 64
}

// Sampler is a thread that takes snapshots on a schedule. It may be used by any number of goroutines at
// once, and outlives its context.
type Sampler struct {
	native raw.Sampler
	open   *handle
}

// NewSampler makes a sampler, which is not started yet. what is taken each time; its Collect 0, and nil,
// mean devices, pools and telemetry. ErrRange: Capacity is above 65536. Other errors are those of Take.
// Close it; one that is forgotten is closed some time after the garbage collector finds it.
func (c *Context) NewSampler(options *SamplerOptions, what *SnapshotOptions) (*Sampler, error) {
	var given SamplerOptions
	if options != nil {
		given = *options
	}
	var wanted SnapshotOptions
	if what != nil {
		wanted = *what
	}
	var d durations
	interval, processInterval := d.ns("Interval", given.Interval), d.ns("ProcessInterval", given.ProcessInterval)
	deadline := d.ns("Deadline", wanted.Deadline)
	if d.err != nil {
		return nil, d.err
	}
	native, err := ask(c, func(native raw.Context, failure *raw.Error) raw.Sampler {
		return native.Sampler(uint32(given.Flags), interval, processInterval, given.Capacity,
			uint32(wanted.Flags), uint32(wanted.Collect), wanted.DeviceIndex, wanted.PID,
			deadline, failure)
	})
	if err != nil {
		return nil, err
	}
	return &Sampler{native, newHandle(func() { raw.DeleteSampler(native) })}, nil
}

// Close stops the sampler, wakes those that wait in Next, and waits for no driver. Closing again does
// nothing.
func (s *Sampler) Close() error {
	if s == nil {
		return nil
	}
	_ = s.Stop()
	s.open.close()
	return nil
}

// askSampler makes a call on a sampler that stays until the call has returned.
func askSampler[T any](s *Sampler, call func(native raw.Sampler, failure *raw.Error) T) (T, error) {
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

// Start starts the sampler, once in its life. ErrState: it was started before. ErrUnsupported: the context
// has ContextNoThreads. ErrLimit: the system gives no thread.
func (s *Sampler) Start() error {
	_, err := askSampler(s, func(native raw.Sampler, failure *raw.Error) struct{} {
		native.Start(failure)
		return struct{}{}
	})
	return err
}

// Stop stops the sampler for good and wakes those that wait in Next. It waits for no driver. ErrState: it
// was never started.
func (s *Sampler) Stop() error {
	_, err := askSampler(s, func(native raw.Sampler, failure *raw.Error) struct{} {
		native.Stop(failure)
		return struct{}{}
	})
	return err
}

// Next pulls the oldest snapshot that was not pulled yet, waiting for one until the time is over. ErrEmpty:
// none has come yet. ErrState: none will come: it is not started, it is stopped and all were pulled, or it
// keeps none. Close the snapshot.
func (s *Sampler) Next(timeout time.Duration) (*Snapshot, error) {
	var d durations
	wait := d.ns("timeout", timeout)
	if d.err != nil {
		return nil, d.err
	}
	native, err := askSampler(s, func(native raw.Sampler, failure *raw.Error) raw.Snapshot {
		return native.Next(wait, failure)
	})
	if err != nil {
		return nil, err
	}
	return newSnapshot(native)
}

// Handle is what an event loop waits for: a descriptor to poll, on Windows a HANDLE, ready whenever Next would
// not wait. It stays the sampler's. ErrLimit: the system cannot create one.
func (s *Sampler) Handle() (int64, error) {
	return askSampler(s, func(native raw.Sampler, failure *raw.Error) int64 {
		return native.Handle(failure)
	})
}

// Info returns the status of the sampler.
func (s *Sampler) Info() (SamplerInfo, error) {
	return askSampler(s, func(native raw.Sampler, failure *raw.Error) SamplerInfo {
		return converted(native.Info(failure), newSamplerInfo)
	})
}

// latest is a value that may be absent.
func latest[R, T any](record *R, convert func(*R) T) Optional[T] {
	if record == nil {
		return Optional[T]{}
	}
	return Some(convert(record))
}

// LatestPool is the main pool of a device as the latest snapshot has it; absent where there is none. It asks
// no driver and never waits: for every frame. ErrNoDevice: no snapshot has had a device of that index.
func (s *Sampler) LatestPool(index uint32) (Optional[Pool], error) {
	return askSampler(s, func(native raw.Sampler, failure *raw.Error) Optional[Pool] {
		return latest(native.LatestPool(index, failure), newPool)
	})
}

// LatestTelemetry is load, temperature and power in the same way.
func (s *Sampler) LatestTelemetry(index uint32) (Optional[Telemetry], error) {
	return askSampler(s, func(native raw.Sampler, failure *raw.Error) Optional[Telemetry] {
		return latest(native.LatestTelemetry(index, failure), newTelemetry)
	})
}

// Peak is the highest that a process has used of a device. ErrNoProcess: it was not seen there. ErrRange:
// pid is 0. ErrNoDevice: no snapshot has had a device of that index.
func (s *Sampler) Peak(index, pid uint32) (Peak, error) {
	return askSampler(s, func(native raw.Sampler, failure *raw.Error) Peak {
		return converted(native.Peak(index, pid, failure), newPeak)
	})
}

// DevicePeak is the highest that was used of a device; absent where no snapshot has had its values.
func (s *Sampler) DevicePeak(index uint32) (Optional[Peak], error) {
	return askSampler(s, func(native raw.Sampler, failure *raw.Error) Optional[Peak] {
		return latest(native.DevicePeak(index, failure), newPeak)
	})
}
