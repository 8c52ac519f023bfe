// SPDX-License-Identifier: MIT OR Apache-2.0

// Package raw is the C interface as SWIG wraps it, for package hypomnesis alone. The generated files are
// written by bindings/generate.
package raw

import (
	"strings"
	"unsafe"
)

// SWIG was told that int has 64 bits: a 32-bit Go is refused here instead of going wrong there.
var _ [unsafe.Sizeof(int(0)) - 8]struct{}

// Text is s as C takes it.
func Text(s string) []byte {
	text := make([]byte, len(s)+1)
	copy(text, s)
	return text
}

// take copies a record out of C's memory and frees that. A library whose record is shorter than T leaves
// the rest zero: absent.
func take[T any](record *T) *T {
	if record == nil {
		return nil
	}
	from, taken := unsafe.Pointer(record), new(T)
	size := uintptr(*(*uint32)(from))
	if size > unsafe.Sizeof(*taken) {
		size = unsafe.Sizeof(*taken)
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(taken)), size), unsafe.Slice((*byte)(from), size))
	Swig_free(uintptr(from))
	return taken
}

// takeText copies a text out of C's memory and frees that.
func takeText(text string) string {
	taken := strings.Clone(text)
	Swig_free(*(*uintptr)(unsafe.Pointer(&text)))
	return taken
}

// NewError is an error for a call to fill.
func NewError() *Error {
	return &Records[Error](1)[0]
}

// Records are for a call to fill; the first says how large each is.
func Records[T any](count uint32) []T {
	records := make([]T, count)
	if count > 0 {
		*(*uint32)(unsafe.Pointer(&records[0])) = uint32(unsafe.Sizeof(records[0]))
	}
	return records
}
