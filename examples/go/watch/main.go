// SPDX-License-Identifier: MIT OR Apache-2.0

// watch prints the memory of a process on the host and on each GPU, five times a second until it exits, and the
// GPUs whose memory spilled to the host meanwhile: watch PID.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"

	"hypomnesis.invalid/bindings/go"
)

func main() {
	if len(os.Args) != 2 {
		exitWithUsage()
	}
	pid, err := strconv.ParseUint(os.Args[1], 10, 32)
	if err != nil {
		exitWithUsage()
	}
	samples, err := watch(uint32(pid))
	if samples == 0 || !errors.Is(err, hypomnesis.ErrNoProcess) {
		fmt.Println(err)
		os.Exit(1)
	}
}

func exitWithUsage() {
	fmt.Fprintln(os.Stderr, "usage: watch PID")
	os.Exit(2)
}

// watch prints samples until one fails, and returns their number and the error.
func watch(pid uint32) (int, error) {
	hmn, err := hypomnesis.NewContext(&hypomnesis.ContextOptions{Flags: hypomnesis.ContextEnvironment})
	if err != nil {
		return 0, err
	}
	defer hmn.Close()
	spills := map[uint32]*hypomnesis.Spill{}
	samples := 0
	for {
		if err = sample(hmn, pid, spills, samples+1); err != nil {
			break
		}
		samples++
		time.Sleep(200 * time.Millisecond)
	}
	indexes := make([]int, 0, len(spills))
	for index := range spills {
		indexes = append(indexes, int(index))
	}
	sort.Ints(indexes)
	for _, index := range indexes {
		printSpill(uint32(index), spills[uint32(index)])
	}
	return samples, err
}

// sample prints one line. It reads all processes, because some drivers report evicted memory per process.
func sample(hmn *hypomnesis.Context, pid uint32, spills map[uint32]*hypomnesis.Spill, number int) error {
	host, err := hmn.ProcessMemory(pid, 0)
	if err != nil {
		return err
	}
	snapshot, err := hmn.Take(context.Background(), &hypomnesis.SnapshotOptions{
		Collect: hypomnesis.CollectDevices | hypomnesis.CollectPools | hypomnesis.CollectProcesses})
	if err != nil {
		return err
	}
	defer snapshot.Close()
	if resident, isKnown := host.ResidentBytes.Get(); isKnown {
		fmt.Print("host ", hypomnesis.FormatBytes(resident))
	} else {
		fmt.Print("host not known")
	}
	for _, usage := range snapshot.Usages() {
		if used, isKnown := usage.UsedBytes.Get(); isKnown && usage.PID == pid {
			fmt.Printf(", GPU %d %s", usage.DeviceIndex, hypomnesis.FormatBytes(used))
		}
	}
	fmt.Println()
	for _, device := range snapshot.Devices() {
		if spills[device.Index] == nil {
			if spills[device.Index], err = hypomnesis.NewLoneSpill(device.Index, nil); err != nil {
				return err
			}
		}
		// A detector without values reports that at the end.
		_ = spills[device.Index].ObserveSnapshot(snapshot, fmt.Sprintf("sample %d", number))
	}
	return nil
}

func printSpill(index uint32, spill *hypomnesis.Spill) {
	info, err := spill.Info()
	label, spilled := info.FirstLabel.Get()
	switch {
	case spilled:
		fmt.Printf("GPU %d: spilled, first in %s\n", index, label)
	case err == nil && info.ObservationCount > 0:
		fmt.Printf("GPU %d: did not spill\n", index)
	default:
		fmt.Printf("GPU %d: not known whether it spilled\n", index)
	}
}
