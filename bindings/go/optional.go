// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"encoding/json"
	"fmt"
)

// Optional is a value that may be absent, that is, not known. It is a plain value: it needs no memory of
// its own, can be compared with ==, and is never a nil pointer that panics when it is read. The zero
// Optional is absent.
type Optional[T any] struct {
	value   T
	present bool
}

// Some returns a present value.
func Some[T any](value T) Optional[T] {
	return Optional[T]{value, true}
}

// Get returns the value and whether it is present; an absent value is T's zero.
func (o Optional[T]) Get() (T, bool) {
	return o.value, o.present
}

// Present reports whether the value is known.
func (o Optional[T]) Present() bool {
	return o.present
}

// Or returns the value, or another one where it is absent.
func (o Optional[T]) Or(other T) T {
	if o.present {
		return o.value
	}
	return other
}

// String returns the value as fmt prints it, or "unknown".
func (o Optional[T]) String() string {
	if o.present {
		return fmt.Sprint(o.value)
	}
	return "unknown"
}

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.present {
		return json.Marshal(o.value)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	var value *T
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*o = Optional[T]{}
	if value != nil {
		*o = Some(*value)
	}
	return nil
}

func optional[B ~uint64, T any](present uint64, bit B, value T) Optional[T] {
	if present&uint64(bit) == 0 {
		return Optional[T]{}
	}
	return Some(value)
}
