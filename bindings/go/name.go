// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"fmt"
	"strings"
)

// enumerator is a number with its name.
type enumerator[T any] struct {
	value T
	name  string
}

// formatEnumerator returns the name of a number; PoolKind(0x4d) for one that has none.
func formatEnumerator[T ~uint32 | ~int32](kind string, value T, names []enumerator[T]) string {
	for _, entry := range names {
		if entry.value == value {
			return entry.name
		}
	}
	return fmt.Sprintf("%s(%#x)", kind, uint32(value))
}

// formatFlags returns the names of all bits: stale|partial. Bits without a name are one number at the end.
func formatFlags[T ~uint32 | ~uint64](value T, names []enumerator[T]) string {
	if value == 0 {
		return "0"
	}
	var parts []string
	for _, entry := range names {
		if value&entry.value != 0 {
			parts = append(parts, entry.name)
			value &^= entry.value
		}
	}
	if value != 0 {
		parts = append(parts, fmt.Sprintf("%#x", uint64(value)))
	}
	return strings.Join(parts, "|")
}

// PCINumber is a device or subsystem id, which everybody writes in hexadecimal.
type PCINumber uint32

// String returns the number as "0x2684".
func (n PCINumber) String() string {
	return fmt.Sprintf("0x%04x", uint32(n))
}
