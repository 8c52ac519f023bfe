// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"errors"
	"fmt"

	"hypomnesis/internal/raw"
)

// One error for each status: for errors.Is. What a call returns is an *Error that wraps one of them.
var (
	ErrArgument    = errors.New("an argument is missing, empty or malformed")
	ErrStructSize  = errors.New("a record has a size that the library cannot fill")
	ErrUnknownFlag = errors.New("a flag that the library does not know")
	ErrRange       = errors.New("an index past the end, or a number outside what is allowed")
	ErrNoMemory    = errors.New("the host's memory is exhausted")
	ErrUnsupported = errors.New("this system, device or driver has no such value")
	ErrNoSource    = errors.New("no source of this value is here")
	ErrNoDevice    = errors.New("no device of that index or key")
	ErrNoProcess   = errors.New("no such process, or it has exited")
	ErrPermission  = errors.New("the system or the driver refused")
	ErrTimeout     = errors.New("the driver did not answer within the deadline")
	ErrDeviceLost  = errors.New("the device was there and is gone")
	ErrBackend     = errors.New("a driver or tool answered with an error, or with nonsense")
	ErrLimit       = errors.New("a limit was reached")
	ErrOverflow    = errors.New("the result does not fit 64 bits")
	ErrForked      = errors.New("the handle was made by the parent of this process")
	ErrBuffer      = errors.New("a buffer is too small")
	ErrEmpty       = errors.New("it was not asked for, or there is nothing to give")
	ErrInternal    = errors.New("a defect of the library")
	ErrAsleep      = errors.New("answering would have to wake the device")
	ErrState       = errors.New("the right call at the wrong moment")
)

// ErrClosed is returned by every method of a context or snapshot that was closed, or is nil.
var ErrClosed = errors.New("hypomnesis: used after Close")

var sentinels = map[Status]error{
	StatusArgument: ErrArgument, StatusStructSize: ErrStructSize, StatusUnknownFlag: ErrUnknownFlag,
	StatusRange: ErrRange, StatusNoMemory: ErrNoMemory, StatusUnsupported: ErrUnsupported,
	StatusNoSource: ErrNoSource, StatusNoDevice: ErrNoDevice, StatusNoProcess: ErrNoProcess,
	StatusPermission: ErrPermission, StatusTimeout: ErrTimeout, StatusDeviceLost: ErrDeviceLost,
	StatusBackend: ErrBackend, StatusLimit: ErrLimit, StatusOverflow: ErrOverflow,
	StatusForked: ErrForked, StatusBuffer: ErrBuffer, StatusEmpty: ErrEmpty,
	StatusInternal: ErrInternal, StatusAsleep: ErrAsleep, StatusState: ErrState,
}

// Error is why a call failed.
type Error struct {
	Status       Status       `json:"status"`
	Notes        Notes        `json:"notes"`         // NoteTruncated: Message was cut
	Backend      Backend      `json:"backend"`       // who failed; BackendNone: the library refused
	NativeDomain NativeDomain `json:"native_domain"` // whose number NativeCode is
	NativeCode   int32        `json:"native_code"`
	Message      string       `json:"message"` // a sentence that says what can be done
}

// Error is the message and the status' name.
func (e *Error) Error() string {
	if e == nil {
		return "hypomnesis: no error"
	}
	name, message := e.Status.String(), e.Message
	if message == "" || message == name {
		message = "the call failed"
		if sentinel := e.Unwrap(); sentinel != nil {
			message = sentinel.Error()
		}
	}
	return fmt.Sprintf("hypomnesis: %s (%s)", message, name)
}

// Unwrap gives the Err value of the status; nil for a status that this package does not know.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return sentinels[e.Status]
}

func newError(from *raw.Error) *Error {
	return &Error{
		Status:       Status(from.Status),
		Notes:        Notes(from.Notes),
		Backend:      Backend(from.Backend),
		NativeDomain: NativeDomain(from.NativeDomain),
		NativeCode:   from.NativeCode,
		Message:      text(from.Message[:]),
	}
}

// refusal is an error of this package's own.
func refusal(status Status, message string) error {
	return &Error{Status: status, Message: message}
}
