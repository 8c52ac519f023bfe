// SPDX-License-Identifier: MIT OR Apache-2.0

// Command `free_memory` prints the GPU that has a number of bytes free: `free_memory 8GiB`. The exit status is 1
// when none has.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"hypomnesis.invalid/bindings/go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: free_memory BYTES, for instance free_memory 8GiB")
		os.Exit(2)
	}
	size, err := parseSize(os.Args[1])
	found := false
	if err == nil {
		found, err = findDevice(size)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !found {
		os.Exit(1)
	}
}

var units = map[string]uint64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// parseSize reads a whole number, in bytes or with a unit.
func parseSize(text string) (uint64, error) {
	digits, unit := text, uint64(1)
	for name, bytes := range units {
		if strings.HasSuffix(text, name) {
			digits, unit = strings.TrimSuffix(text, name), bytes
		}
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || number > math.MaxUint64/unit {
		return 0, fmt.Errorf("%q is no size: write 8GiB, 512MiB or a number of bytes", text)
	}
	return number * unit, nil
}

// findDevice prints a line for each GPU, and returns whether any has enough free memory.
func findDevice(size uint64) (bool, error) {
	hmn, err := hypomnesis.NewContext(&hypomnesis.ContextOptions{Flags: hypomnesis.ContextEnvironment})
	if err != nil {
		return false, err
	}
	defer hmn.Close()
	snapshot, err := hmn.Take(context.Background(), &hypomnesis.SnapshotOptions{Collect: hypomnesis.CollectPools})
	if err != nil {
		return false, err
	}
	defer snapshot.Close()

	var most uint64
	best, hasBest := uint32(0), false
	for _, device := range snapshot.Devices() {
		free, isKnown := freeMemory(device)
		fmt.Printf("GPU %d [%v]: %s\n", device.Index, device.Name, verdict(free, isKnown, size))
		if isKnown && free >= size && (!hasBest || free > most) {
			best, most, hasBest = device.Index, free, true
		}
	}
	if hasBest {
		fmt.Printf("GPU %d has most\n", best)
	} else {
		fmt.Printf("no GPU has %s free\n", hypomnesis.FormatBytes(size))
	}
	return hasBest, nil
}

// freeMemory returns the bytes that can be allocated on a device now.
func freeMemory(device hypomnesis.SnapshotDevice) (uint64, bool) {
	for _, pool := range device.Pools {
		if pool.IsMain {
			return pool.UsableBytes.Get()
		}
	}
	return 0, false
}

func verdict(free uint64, isKnown bool, size uint64) string {
	switch {
	case !isKnown:
		return "free memory is not known"
	case free < size:
		return hypomnesis.FormatBytes(free) + " free, does not fit"
	}
	return hypomnesis.FormatBytes(free) + " free, fits"
}
