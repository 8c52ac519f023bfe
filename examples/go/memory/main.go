// SPDX-License-Identifier: MIT OR Apache-2.0

// memory prints the memory of this process, and what the host has available.
package main

import (
	"fmt"
	"os"

	"hypomnesis.invalid/bindings/go"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run() error {
	hmn, err := hypomnesis.NewContext(&hypomnesis.ContextOptions{Flags: hypomnesis.ContextEnvironment})
	if err != nil {
		return err
	}
	defer hmn.Close()
	own, err := hmn.OwnMemory(0)
	if err != nil {
		return err
	}
	system, err := hmn.SystemMemory(0)
	if err != nil {
		return err
	}
	printSize("resident", own.ResidentBytes)
	printSize("available", system.AvailableBytes)
	return nil
}

func printSize(label string, bytes hypomnesis.Optional[uint64]) {
	if value, ok := bytes.Get(); ok {
		fmt.Printf("%s: %d bytes (%s)\n", label, value, hypomnesis.FormatBytes(value))
	} else {
		fmt.Printf("%s: not known\n", label)
	}
}
