// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// readResident returns the resident set of this process in bytes, from the kernel and not from the library.
func readResident(t *testing.T) uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc")
	}
	pages, err := strconv.ParseUint(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * uint64(os.Getpagesize())
}

// openAndClose makes a context and two snapshots, and closes or drops them in an order that depends on i.
func openAndClose(t *testing.T, path string, i int) {
	hmn, err := NewContext(&ContextOptions{Flags: ContextNoThreads})
	if err == nil {
		err = hmn.SetPath(PathSimulation, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	first, err := hmn.Take(background, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := hmn.Take(background, nil)
	if err != nil {
		t.Fatal(err)
	}
	switch i % 4 {
	case 0: // the parent first
		hmn.Close()
		first.Close()
		second.Close()
	case 1:
		second.Close()
		hmn.Close() // and the collector frees the other one
	case 2:
		hmn.Close()
	case 3: // the collector frees all three
	}
	if i%4 < 2 {
		return
	}
	if _, err := second.DeltaLine(first, 0, "x", 0); err != nil {
		t.Fatal(err)
	}
}

func collectGarbage() {
	for i := 0; i < 3; i++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

func TestStressGarbageIsFreed(t *testing.T) {
	const cycles, warmUp, growthLimit = 10000, 1000, 24 << 20
	path := t.TempDir() + "/machine.json"
	if err := os.WriteFile(path, []byte(growingMachine), 0o600); err != nil {
		t.Fatal(err)
	}
	var after uint64
	for i := 0; i < cycles; i++ {
		openAndClose(t, path, i)
		if i%100 == 0 {
			runtime.GC()
		}
		if i == warmUp {
			collectGarbage()
			after = readResident(t)
		}
	}
	collectGarbage()
	if now := readResident(t); now > after+growthLimit {
		t.Errorf("%d MiB resident after %d cycles, %d MiB after %d", now>>20, cycles, after>>20, warmUp)
	}
}

func TestStressGoroutinesShareAContext(t *testing.T) {
	hmn := openMachine(t, twoDevices)
	shared := take(t, hmn, everything)
	var group sync.WaitGroup
	for worker := 0; worker < 8; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 200; i++ {
				snapshot, err := hmn.Take(background, &SnapshotOptions{Collect: everything})
				if err != nil {
					t.Error(err)
					return
				}
				pool, err := hmn.Pool(background, 0, PoolMain, 0, 0)
				if err != nil || pool.TotalBytes != Some(uint64(1<<48)) {
					t.Error(pool, err)
				}
				if _, err := snapshot.DeltaSince(shared, 0); err != nil {
					t.Error(err)
				}
				if devices := snapshot.Devices(); devices[0].Name != Some("Größte Karte 猫") {
					t.Error(devices[0].Name)
				}
				snapshot.Close()
			}
		}()
	}
	group.Wait()
}

// A close during calls of other goroutines takes effect before or after each of them, never within.
func TestStressCloseDuringCallsIsSafe(t *testing.T) {
	for round := 0; round < 50; round++ {
		hmn := openMachine(t, twoDevices)
		snapshot := take(t, hmn, everything)
		var group sync.WaitGroup
		for worker := 0; worker < 8; worker++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					_, first := hmn.Pool(background, 0, PoolMain, 0, 0)
					_, second := snapshot.JSON()
					if errors.Is(first, ErrClosed) && errors.Is(second, ErrClosed) {
						return
					}
					for _, err := range []error{first, second} {
						if err != nil && !errors.Is(err, ErrClosed) {
							t.Error(err)
							return
						}
					}
				}
			}()
		}
		time.Sleep(time.Millisecond)
		for i := 0; i < 2; i++ {
			group.Add(2)
			go func() { defer group.Done(); hmn.Close() }()
			go func() { defer group.Done(); snapshot.Close() }()
		}
		group.Wait()
	}
}

// Closing does not wait for a call that hangs in a driver, and that call succeeds.
func TestCloseDoesNotWait(t *testing.T) {
	gate := t.TempDir() + "/gate"
	hmn := openMachine(t, fmt.Sprintf(`{"devices": [{"pools": [{"kind": "vram", "total": "1GiB"}],
	  "delays": [{"call": "pools", "hang_until": %q}]}]}`, gate))
	if _, err := hmn.Scan(background); err != nil {
		t.Fatal(err)
	}
	results := make(chan error)
	go func() {
		snapshot, err := hmn.Take(background, &SnapshotOptions{Collect: CollectPools, Deadline: 20 * time.Second})
		if err == nil {
			pool, _ := snapshot.Pool(0)
			if pool.TotalBytes != Some(uint64(1<<30)) {
				err = fmt.Errorf("total is %v: %v", pool.TotalBytes, snapshot.Diagnostics())
			}
			snapshot.Close()
		}
		results <- err
	}()
	for hmn.handle.users.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	hmn.Close()
	if _, err := hmn.Scan(background); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-results; err != nil {
		t.Errorf("the call that was inside: %v", err)
	}
	expect(t, "users", hmn.handle.users.Load(), 0)
}
