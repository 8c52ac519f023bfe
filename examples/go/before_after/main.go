// SPDX-License-Identifier: MIT OR Apache-2.0

// before_after prints the change on the host and on the first GPU when 64 MiB are allocated.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"hypomnesis.invalid/bindings/go"
)

const workBytes = 64 << 20

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// allocate returns memory of which each page was touched.
func allocate() []byte {
	memory := make([]byte, workBytes)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	return memory
}

func run() error {
	hmn, err := hypomnesis.NewContext(&hypomnesis.ContextOptions{Flags: hypomnesis.ContextEnvironment})
	if err != nil {
		return err
	}
	defer hmn.Close()
	before, err := hmn.Take(context.Background(), nil)
	if err != nil {
		return err
	}
	defer before.Close()
	memory := allocate()
	after, err := hmn.Take(context.Background(), nil)
	if err != nil {
		return err
	}
	defer after.Close()
	runtime.KeepAlive(memory)

	if len(after.Devices()) == 0 {
		fmt.Println(describeRAM(before, after))
		return nil
	}
	text, err := after.BeforeAfterLines(before, 0, "work", 0)
	fmt.Print(text)
	return err
}

// describeRAM describes the change on the host.
func describeRAM(before, after *hypomnesis.Snapshot) string {
	memoryBefore, _ := before.Memory()
	memoryAfter, _ := after.Memory()
	bytesBefore, isKnownBefore := memoryBefore.ResidentBytes.Get()
	bytesAfter, isKnownAfter := memoryAfter.ResidentBytes.Get()
	switch {
	case !isKnownBefore || !isKnownAfter:
		return "RAM is not known"
	case bytesAfter >= bytesBefore+workBytes:
		return "RAM +64 MiB or more"
	}
	return "RAM rose by less than 64 MiB"
}
