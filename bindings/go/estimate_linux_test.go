// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"syscall"
	"testing"
	"unsafe"
)

// The list has one number more than a uint32_t can count, in memory that cannot be read: cut to 32 bits it would have
// one number.
func TestEstimateRefusesAListThatIsTooLong(t *testing.T) {
	const count = 1<<32 + 1
	memory, err := syscall.Mmap(-1, 0, count*8, syscall.PROT_NONE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skip("no address space for the list: ", err)
	}
	defer syscall.Munmap(memory)
	list := unsafe.Slice((*uint64)(unsafe.Pointer(&memory[0])), count)
	if _, err := EstimateTensor(list, DtypeU8); !isError(err, ErrRange) {
		t.Errorf("a tensor: %v", err)
	}
	if _, err := EstimatePacked(list, Packing{Dtype: DtypeU8}); !isError(err, ErrRange) {
		t.Errorf("a packed tensor: %v", err)
	}
	if _, err := EstimateSum(list...); !isError(err, ErrRange) {
		t.Errorf("a sum: %v", err)
	}
}
