// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"runtime"
	"sync/atomic"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// handle counts the users of a native object: its owner, and each call in progress. The last one to leave
// destroys it, so that closing never waits and never invalidates an object in use. The finalizer is for
// objects that are never closed.
type handle struct {
	users   atomic.Int64
	closed  atomic.Bool
	destroy func()
}

func newHandle(destroy func()) *handle {
	h := &handle{destroy: destroy}
	h.users.Store(1)
	runtime.SetFinalizer(h, (*handle).close)
	return h
}

// enter reports whether the object may be used; then leave must follow.
func (h *handle) enter() bool {
	if h == nil || h.closed.Load() {
		return false
	}
	for {
		users := h.users.Load()
		if users == 0 {
			return false
		}
		if h.users.CompareAndSwap(users, users+1) {
			return true
		}
	}
}

func (h *handle) leave() {
	if h.users.Add(-1) == 0 {
		h.destroy()
	}
}

func (h *handle) close() {
	if h != nil && h.closed.CompareAndSwap(false, true) {
		runtime.SetFinalizer(h, nil)
		h.leave()
	}
}

// convertRecord converts a record into a plain value; nil becomes T's zero.
func convertRecord[R, T any](record *R, convert func(*R) T) T {
	if record == nil {
		var zero T
		return zero
	}
	return convert(record)
}

// checkResult returns the value, or the error of the failure.
func checkResult[T any](value T, failure *raw.Error) (T, error) {
	if failure.Status != 0 {
		var zero T
		return zero, newError(failure)
	}
	return value, nil
}
