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

// resident is the resident set of this process in bytes, by the kernel and not by the library.
func resident(t *testing.T) uint64 {
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

// cycle makes a context and two snapshots, and lets go of them in an order that changes.
func cycle(t *testing.T, path string, i int) {
	context, err := NewContext(&ContextOptions{Flags: ContextNoThreads})
	if err == nil {
		err = context.SetPath(PathSimulation, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	first, err := context.Take(nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := context.Take(nil)
	if err != nil {
		t.Fatal(err)
	}
	switch i % 4 {
	case 0: // the parent first
		context.Close()
		first.Close()
		second.Close()
	case 1:
		second.Close()
		context.Close() // and the collector finds the other one
	case 2:
		context.Close()
	case 3: // the collector finds all three
	}
	if i%4 < 2 {
		return
	}
	if _, err := second.DeltaLine(first, 0, "x", 0); err != nil {
		t.Fatal(err)
	}
}

func collect() {
	for i := 0; i < 3; i++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

func TestStressGarbage(t *testing.T) {
	const cycles, warm, bound = 10000, 1000, 24 << 20
	path := t.TempDir() + "/machine.json"
	if err := os.WriteFile(path, []byte(growing), 0o600); err != nil {
		t.Fatal(err)
	}
	var after uint64
	for i := 0; i < cycles; i++ {
		cycle(t, path, i)
		if i%100 == 0 {
			runtime.GC()
		}
		if i == warm {
			collect()
			after = resident(t)
		}
	}
	collect()
	if now := resident(t); now > after+bound {
		t.Errorf("%d MiB resident after %d cycles, %d MiB after %d", now>>20, cycles, after>>20, warm)
	}
}

func TestStressGoroutines(t *testing.T) {
	context := machine(t, twoDevices)
	shared := take(t, context, everything)
	var group sync.WaitGroup
	for worker := 0; worker < 8; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 200; i++ {
				snapshot, err := context.Take(&SnapshotOptions{Collect: everything})
				if err != nil {
					t.Error(err)
					return
				}
				pool, err := context.Pool(0, PoolMain, 0, 0)
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

// Closing while others are inside is either before or after each of their calls, never within.
func TestStressCloseWithin(t *testing.T) {
	for round := 0; round < 50; round++ {
		context := machine(t, twoDevices)
		snapshot := take(t, context, everything)
		var group sync.WaitGroup
		for worker := 0; worker < 8; worker++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					_, first := context.Pool(0, PoolMain, 0, 0)
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
			go func() { defer group.Done(); context.Close() }()
			go func() { defer group.Done(); snapshot.Close() }()
		}
		group.Wait()
	}
}

// Closing does not wait for a call that hangs in a driver, and that call ends well.
func TestCloseDoesNotWait(t *testing.T) {
	gate := t.TempDir() + "/gate"
	context := machine(t, fmt.Sprintf(`{"devices": [{"pools": [{"kind": "vram", "total": "1GiB"}],
	  "delays": [{"call": "pools", "hang_until": %q}]}]}`, gate))
	if _, err := context.Scan(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		snapshot, err := context.Take(&SnapshotOptions{Collect: CollectPools, Deadline: 20 * time.Second})
		if err == nil {
			pool, _ := snapshot.Pool(0)
			if pool.TotalBytes != Some(uint64(1<<30)) {
				err = fmt.Errorf("total is %v: %v", pool.TotalBytes, snapshot.Diagnostics())
			}
			snapshot.Close()
		}
		ended <- err
	}()
	for context.open.users.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	context.Close()
	if _, err := context.Scan(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the call that was inside: %v", err)
	}
	want(t, "users", context.open.users.Load(), 0)
}
