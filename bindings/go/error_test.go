// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorTextHasMessageAndStatus(t *testing.T) {
	for text, failure := range map[string]*Error{
		"hypomnesis: no GPU 7 (HMN_E_NO_DEVICE)": {Status: StatusNoDevice, Message: "no GPU 7"},
		"hypomnesis: an index past the end, or a number out of range (HMN_E_RANGE)": {
			Status: StatusRange},
		"hypomnesis: the call failed (HMN_E_?)": {Status: -99},
		"hypomnesis: no error":                  nil,
	} {
		expect(t, "text", failure.Error(), text)
	}
}

func TestErrorWrapsTheSentinelOfItsStatus(t *testing.T) {
	var err error = fmt.Errorf("reading: %w", &Error{Status: StatusAsleep, NativeCode: 3})
	expectError(t, "asleep", err, ErrAsleep)
	expect(t, "timeout", errors.Is(err, ErrTimeout), false)
	var failure *Error
	expect(t, "as", errors.As(err, &failure) && failure.NativeCode == 3, true)
	expect(t, "a status of a later library", errors.Unwrap(&Error{Status: -99}) == nil, true)
	failure = nil
	expect(t, "nothing", failure.Unwrap() == nil, true)
}
