// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by every method of a context or snapshot that was closed, or is nil.
var ErrClosed = errors.New("hypomnesis: used after Close")

// Error returns the message and the name of the status.
func (e *Error) Error() string {
	if e == nil {
		return "hypomnesis: no error"
	}
	name, message := e.Status.String(), e.Message
	if message == "" {
		message = "the call failed"
		if sentinel := e.Unwrap(); sentinel != nil {
			message = sentinel.Error()
		}
	}
	return fmt.Sprintf("hypomnesis: %s (%s)", message, name)
}

// Unwrap returns the Err value of the status; nil for a status that this package does not know.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return sentinels[e.Status]
}

// newRefusal makes an error of this package itself.
func newRefusal(status Status, message string) error {
	return &Error{Status: status, Message: message}
}
