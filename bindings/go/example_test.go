// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"hypomnesis.invalid/bindings/go"
)

// openSimulated returns a context on the machine in testdata; without SetPath it would be on this machine.
func openSimulated() *hypomnesis.Context {
	hmn, err := hypomnesis.NewContext(nil)
	if err != nil {
		panic(err)
	}
	path, err := filepath.Abs("testdata/machine.json")
	if err != nil {
		panic(err)
	}
	if err := hmn.SetPath(hypomnesis.PathSimulation, path); err != nil {
		panic(err)
	}
	return hmn
}

func Example() {
	hmn := openSimulated()
	defer hmn.Close()
	snapshot, err := hmn.Take(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer snapshot.Close()
	for _, device := range snapshot.Devices() {
		for _, pool := range device.Pools {
			if free, ok := pool.FreeBytes.Get(); ok {
				fmt.Printf("GPU %d [%v]: %s free\n", device.Index, device.Name, hypomnesis.FormatBytes(free))
			} else {
				fmt.Printf("GPU %d [%v]: not known\n", device.Index, device.Name)
			}
		}
	}
	// Output:
	// GPU 0 [Card A]: 13.0 GiB free
	// GPU 1 [Card B]: not known
}

func ExampleContext_Pool() {
	hmn := openSimulated()
	defer hmn.Close()
	pool, err := hmn.Pool(context.Background(), 0, hypomnesis.PoolMain, 0, 0)
	fmt.Println(pool.TotalBytes, err)
	_, err = hmn.Pool(context.Background(), 7, hypomnesis.PoolMain, 0, 0)
	fmt.Println(errors.Is(err, hypomnesis.ErrNoDevice))
	// Output:
	// 17179869184 <nil>
	// true
}

func ExampleContext_FindDevice() {
	hmn := openSimulated()
	defer hmn.Close()
	index, err := hmn.FindDevice("uuid:GPU-b")
	fmt.Println(index, err)
	// Output: 1 <nil>
}

func ExampleContext_OwnMemory() {
	hmn := openSimulated()
	defer hmn.Close()
	memory, err := hmn.OwnMemory(hypomnesis.ProcessMemoryHasResident | hypomnesis.ProcessMemoryHasSwap)
	fmt.Println(memory.ResidentBytes, memory.SwapBytes, err)
	fmt.Println("partial:", memory.Notes&hypomnesis.NotePartial != 0)
	// Output:
	// 12582912 unknown <nil>
	// partial: true
}

func ExampleError() {
	hmn := openSimulated()
	defer hmn.Close()
	_, err := hmn.Usage(context.Background(), 0, 99, 0)
	var failure *hypomnesis.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Status, failure.Backend)
	}
	// Output: HMN_E_NO_PROCESS simulated
}

func ExampleOptional() {
	watts := hypomnesis.Optional[float64]{}
	celsius := hypomnesis.Some(45.0)
	if _, ok := watts.Get(); !ok {
		fmt.Println("power is", watts)
	}
	fmt.Println("temperature is", celsius.Or(0))
	// Output:
	// power is unknown
	// temperature is 45
}

func ExampleSnapshot_Usages() {
	hmn := openSimulated()
	defer hmn.Close()
	snapshot, err := hmn.Take(context.Background(), &hypomnesis.SnapshotOptions{Collect: hypomnesis.CollectProcesses})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer snapshot.Close()
	for _, usage := range snapshot.Usages() {
		fmt.Println(usage.DeviceIndex, usage.PID, usage.Name, usage.UsedBytes)
	}
	// Output: 0 4711 train 2147483648
}

func ExampleSnapshot_DeltaSince() {
	hmn := openSimulated()
	defer hmn.Close()
	before, err := hmn.Take(context.Background(), &hypomnesis.SnapshotOptions{Collect: hypomnesis.CollectPools})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer before.Close()
	after, err := hmn.Take(context.Background(), &hypomnesis.SnapshotOptions{Collect: hypomnesis.CollectPools})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer after.Close()
	delta, err := after.DeltaSince(before, 0)
	fmt.Println(delta.DeviceBytes, delta.Scope == hypomnesis.DeltaScopeDevice, err)
	// Output: 2147483648 true <nil>
}
