// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build cgo

// Package raw is the C interface as SWIG wraps it, only for package hypomnesis. The generated files are written
// by bindings/generate.
package raw

import (
	"strings"
	"unsafe"
)

// SWIG assumes an int of 64 bits: a 32-bit Go is refused here instead of failing there.
var _ [unsafe.Sizeof(int(0)) - 8]struct{}

// Text returns a text for C, with its terminator.
func Text(text string) []byte {
	bytes := make([]byte, len(text)+1)
	copy(bytes, text)
	return bytes
}

// take copies a record out of C's memory, which it frees. Where the library's record is shorter than T, the rest
// is zero: absent.
func take[T any](record *T) *T {
	if record == nil {
		return nil
	}
	source, result := unsafe.Pointer(record), new(T)
	size := uintptr(*(*uint32)(source))
	if size > unsafe.Sizeof(*result) {
		size = unsafe.Sizeof(*result)
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(result)), size), unsafe.Slice((*byte)(source), size))
	Swig_free(uintptr(source))
	return result
}

// takeText copies a text out of C's memory, which it frees.
func takeText(text string) string {
	result := strings.Clone(text)
	Swig_free(*(*uintptr)(unsafe.Pointer(&text)))
	return result
}

// NewError returns an error for a call to fill.
func NewError() *Error {
	return &Records[Error](1)[0]
}

// Records returns records for a call to fill; the first has the size of each.
func Records[T any](count uint32) []T {
	records := make([]T, count)
	if count > 0 {
		*(*uint32)(unsafe.Pointer(&records[0])) = uint32(unsafe.Sizeof(records[0]))
	}
	return records
}
