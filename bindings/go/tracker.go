// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"context"
	"runtime"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// TrackerOptions configure a tracker. The zero value, and nil, mean every default.
type TrackerOptions struct {
	LimitBytes  Optional[uint64] // absent: no limit; 0 allows nothing
	TagCapacity uint32           // most tags; 0 is 64
}

// limitArguments returns the arguments of the raw layer for a limit: flags and bytes.
func limitArguments(bytes Optional[uint64]) (uint32, uint64) {
	limit, isLimited := bytes.Get()
	if !isLimited {
		return 0, 0
	}
	return trackerLimited, limit
}

// Tracker is the bookkeeping of a budget, which allocates nothing itself. It may be used by any number of
// goroutines at the same time: the limit holds at every instant. It outlives its context.
type Tracker struct {
	native raw.Tracker
	handle *handle
}

func newTracker(native raw.Tracker) *Tracker {
	return &Tracker{native, newHandle(func() { raw.DeleteTracker(native) })}
}

// NewTracker makes a tracker for bookkeeping alone. ErrRange: TagCapacity is above 65536. Close it; otherwise
// it is closed some time after it becomes garbage.
func NewTracker(options *TrackerOptions) (*Tracker, error) {
	var settings TrackerOptions
	if options != nil {
		settings = *options
	}
	failure := raw.NewError()
	flags, limit := limitArguments(settings.LimitBytes)
	native := raw.NewTracker(flags, limit, settings.TagCapacity, failure)
	if failure.Status != 0 {
		return nil, newError(failure)
	}
	return newTracker(native), nil
}

// NewTracker makes a tracker whose WouldFit also asks a device. It touches no driver yet.
func (c *Context) NewTracker(index uint32, options *TrackerOptions) (*Tracker, error) {
	var settings TrackerOptions
	if options != nil {
		settings = *options
	}
	flags, limit := limitArguments(settings.LimitBytes)
	native, err := callContext(c, func(native raw.Context, failure *raw.Error) raw.Tracker {
		return native.Tracker(index, flags, limit, settings.TagCapacity, failure)
	})
	if err != nil {
		return nil, err
	}
	return newTracker(native), nil
}

// Close closes the tracker. Closing again does nothing.
func (t *Tracker) Close() error {
	if t != nil {
		t.handle.close()
	}
	return nil
}

// callTracker makes a call on a tracker, which stays until the call has returned.
func callTracker[T any](t *Tracker, call func(native raw.Tracker, failure *raw.Error) T) (T, error) {
	if t == nil || !t.handle.enter() {
		var zero T
		return zero, ErrClosed
	}
	defer t.handle.leave()
	failure := raw.NewError()
	result := call(t.native, failure)
	runtime.KeepAlive(t)
	return checkResult(result, failure)
}

// runTracker makes a call on a tracker that returns no value.
func runTracker(t *Tracker, call func(native raw.Tracker, failure *raw.Error)) error {
	_, err := callTracker(t, func(native raw.Tracker, failure *raw.Error) struct{} {
		call(native, failure)
		return struct{}{}
	})
	return err
}

// Allocate takes bytes from the budget. ErrLimit: they would exceed the limit.
func (t *Tracker) Allocate(bytes uint64) error {
	return t.AllocateTagged(0, bytes)
}

// Release gives bytes back. ErrRange: more than is allocated.
func (t *Tracker) Release(bytes uint64) error {
	return t.ReleaseTagged(0, bytes)
}

// AllocateTagged allocates as Allocate does, and counts the bytes under a tag; 0 is none. ErrRange: no such
// tag.
func (t *Tracker) AllocateTagged(tag uint32, bytes uint64) error {
	return runTracker(t, func(native raw.Tracker, failure *raw.Error) { native.Allocate(bytes, tag, failure) })
}

// ReleaseTagged releases bytes that were allocated under a tag. ErrRange: as for Release, or no such tag.
func (t *Tracker) ReleaseTagged(tag uint32, bytes uint64) error {
	return runTracker(t, func(native raw.Tracker, failure *raw.Error) { native.Release(bytes, tag, failure) })
}

// WouldFit reports whether bytes would fit now, within the limit and on a linked device. An error means that
// the device does not answer.
func (t *Tracker) WouldFit(ctx context.Context, bytes uint64) (bool, error) {
	return await(ctx, func() (bool, error) {
		return callTracker(t, func(native raw.Tracker, failure *raw.Error) bool {
			return native.WouldFit(bytes, failure) == 1
		})
	}, nil)
}

// SetLimit sets another limit; the zero Optional removes it, Some(0) allows nothing. ErrLimit: more is
// allocated.
func (t *Tracker) SetLimit(bytes Optional[uint64]) error {
	flags, limit := limitArguments(bytes)
	return runTracker(t, func(native raw.Tracker, failure *raw.Error) { native.SetLimit(flags, limit, failure) })
}

// Reset forgets what is allocated, and the peaks; limit and tags stay.
func (t *Tracker) Reset() error {
	return runTracker(t, func(native raw.Tracker, failure *raw.Error) { native.Reset(failure) })
}

// Tag returns the number of the tag with that name, which is created if there is none. ErrLimit: there are
// TagCapacity tags already. ErrArgument: the name is empty, or longer than 63 bytes.
func (t *Tracker) Tag(name string) (uint32, error) {
	cName, err := encodeText("name", name)
	if err != nil {
		return 0, err
	}
	return callTracker(t, func(native raw.Tracker, failure *raw.Error) uint32 {
		return native.Tag(cName, failure)
	})
}

// Info returns the state of the budget.
func (t *Tracker) Info() (TrackerInfo, error) {
	return callTracker(t, func(native raw.Tracker, failure *raw.Error) TrackerInfo {
		return convertRecord(native.Info(failure), newTrackerInfo)
	})
}

// ReadTag returns what was allocated under a tag. ErrRange: no such tag.
func (t *Tracker) ReadTag(tag uint32) (Tag, error) {
	return callTracker(t, func(native raw.Tracker, failure *raw.Error) Tag {
		return convertRecord(native.ReadTag(tag, failure), newTag)
	})
}
