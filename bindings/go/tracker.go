// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"runtime"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// TrackerOptions configure a tracker. The zero value, and nil, mean every default.
type TrackerOptions struct {
	LimitBytes  Optional[uint64] // absent: no limit; 0 allows nothing
	TagCapacity uint32           // tags that there can be; 0 is 64
}

// limitArguments are the flags and the limit as the raw layer takes them.
func limitArguments(bytes Optional[uint64]) (uint32, uint64) {
	limit, isLimited := bytes.Get()
	if !isLimited {
		return 0, 0
	}
	return trackerLimited, limit
}

// Tracker is the bookkeeping of a budget, which allocates nothing itself. It may be used by any number of
// goroutines at once: the limit holds at every instant. It outlives its context.
type Tracker struct {
	native raw.Tracker
	open   *handle
}

func newTracker(native raw.Tracker) *Tracker {
	return &Tracker{native, newHandle(func() { raw.DeleteTracker(native) })}
}

// NewTracker makes a tracker of bookkeeping alone. ErrRange: TagCapacity is above 65536. Close it; one that
// is forgotten is closed some time after the garbage collector finds it.
func NewTracker(options *TrackerOptions) (*Tracker, error) {
	var given TrackerOptions
	if options != nil {
		given = *options
	}
	failure := raw.NewError()
	flags, limit := limitArguments(given.LimitBytes)
	native := raw.NewTracker(flags, limit, given.TagCapacity, failure)
	if failure.Status != 0 {
		return nil, newError(failure)
	}
	return newTracker(native), nil
}

// NewTracker makes a tracker whose WouldFit also asks a device. It touches no driver yet.
func (c *Context) NewTracker(index uint32, options *TrackerOptions) (*Tracker, error) {
	var given TrackerOptions
	if options != nil {
		given = *options
	}
	flags, limit := limitArguments(given.LimitBytes)
	native, err := ask(c, func(native raw.Context, failure *raw.Error) raw.Tracker {
		return native.Tracker(index, flags, limit, given.TagCapacity, failure)
	})
	if err != nil {
		return nil, err
	}
	return newTracker(native), nil
}

// Close ends the tracker. Closing again does nothing.
func (t *Tracker) Close() error {
	if t != nil {
		t.open.close()
	}
	return nil
}

// askTracker makes a call on a tracker that stays until the call has returned.
func askTracker[T any](t *Tracker, call func(native raw.Tracker, failure *raw.Error) T) (T, error) {
	if t == nil || !t.open.enter() {
		var nothing T
		return nothing, ErrClosed
	}
	defer t.open.leave()
	failure := raw.NewError()
	answer := call(t.native, failure)
	runtime.KeepAlive(t)
	return checked(answer, failure)
}

// tellTracker makes a call that gives nothing.
func tellTracker(t *Tracker, call func(native raw.Tracker, failure *raw.Error)) error {
	_, err := askTracker(t, func(native raw.Tracker, failure *raw.Error) struct{} {
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

// AllocateTagged is Allocate, also counted under a tag; 0 is none. ErrRange: no such tag.
func (t *Tracker) AllocateTagged(tag uint32, bytes uint64) error {
	return tellTracker(t, func(native raw.Tracker, failure *raw.Error) { native.Allocate(bytes, tag, failure) })
}

// ReleaseTagged is Release of what was allocated under a tag. ErrRange: also no such tag.
func (t *Tracker) ReleaseTagged(tag uint32, bytes uint64) error {
	return tellTracker(t, func(native raw.Tracker, failure *raw.Error) { native.Release(bytes, tag, failure) })
}

// WouldFit reports whether bytes would fit now, within the limit and on a linked device. An error reports that
// the device does not answer.
func (t *Tracker) WouldFit(bytes uint64) (bool, error) {
	return askTracker(t, func(native raw.Tracker, failure *raw.Error) bool {
		return native.WouldFit(bytes, failure) == 1
	})
}

// SetLimit sets another limit; the zero Optional removes it, Some(0) allows nothing. ErrLimit: more is
// allocated.
func (t *Tracker) SetLimit(bytes Optional[uint64]) error {
	flags, limit := limitArguments(bytes)
	return tellTracker(t, func(native raw.Tracker, failure *raw.Error) { native.SetLimit(flags, limit, failure) })
}

// Reset forgets what is allocated, and the peaks; limit and tags stay.
func (t *Tracker) Reset() error {
	return tellTracker(t, func(native raw.Tracker, failure *raw.Error) { native.Reset(failure) })
}

// Tag is the number of the tag of that name, which is made if there is none. ErrLimit: there are as many as
// can be. ErrArgument: the name is empty, or longer than 63 bytes.
func (t *Tracker) Tag(name string) (uint32, error) {
	given, err := argument("name", name)
	if err != nil {
		return 0, err
	}
	return askTracker(t, func(native raw.Tracker, failure *raw.Error) uint32 {
		return native.Tag(given, failure)
	})
}

// Info returns the state of the budget.
func (t *Tracker) Info() (TrackerInfo, error) {
	return askTracker(t, func(native raw.Tracker, failure *raw.Error) TrackerInfo {
		return converted(native.Info(failure), newTrackerInfo)
	})
}

// ReadTag is what was allocated under a tag. ErrRange: no such tag.
func (t *Tracker) ReadTag(tag uint32) (Tag, error) {
	return askTracker(t, func(native raw.Tracker, failure *raw.Error) Tag {
		return converted(native.ReadTag(tag, failure), newTag)
	})
}
