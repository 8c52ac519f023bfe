// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestContextReadsEverything(t *testing.T) {
	hmn := openMachine(t, twoDevices)
	scan, err := hmn.Scan(background)
	expectError(t, "error", err, nil)
	expect(t, "count", scan.Count, 2)
	expect(t, "has a generation", scan.Generation > 0, true)
	index, err := hmn.FindDevice("uuid:GPU-2")
	expectError(t, "error", err, nil)
	expect(t, "index", index, 1)
	device, err := hmn.Device(0, 0)
	expectError(t, "error", err, nil)
	expect(t, "name", device.Name, Some("Größte Karte 猫"))
	pool, err := hmn.Pool(background, 0, PoolMain, 0, 0)
	expectError(t, "error", err, nil)
	expect(t, "total", pool.TotalBytes, Some(uint64(1<<48)))
	telemetry, err := hmn.Telemetry(background, 0, TelemetryHasPower|TelemetryHasTemperature)
	expectError(t, "error", err, nil)
	expect(t, "power", telemetry.PowerWatts, Some(20.25))
	usage, err := hmn.Usage(background, 0, 40, 0)
	expectError(t, "error", err, nil)
	expect(t, "used", usage.UsedBytes, Some(uint64(1<<48-1)))
	own, err := hmn.OwnUsage(background, 0, 0)
	expectError(t, "error", err, nil)
	expect(t, "own", own.UsedBytes, Some(uint64(5<<20)))
	memory, err := hmn.ProcessMemory(40, ProcessMemoryHasResident)
	expectError(t, "error", err, nil)
	expect(t, "resident", memory.ResidentBytes, Some(uint64(1<<30)))
	memory, err = hmn.OwnMemory(0)
	expectError(t, "error", err, nil)
	expect(t, "own resident", memory.ResidentBytes, Some(uint64(12<<20)))
	system, err := hmn.SystemMemory(0)
	expectError(t, "error", err, nil)
	expect(t, "available", system.AvailableBytes, Some(uint64(48<<30)))
	backend, err := hmn.Backend(background, BackendSimulated)
	expectError(t, "error", err, nil)
	expect(t, "state", backend.State, RunStateReady)
}

func TestCancelEndsWaitingUntilResume(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	hmn := openMachine(t, fmt.Sprintf(`{"host": "real", "devices": [{"pools": [{"kind": "vram", "total": 5}],
		"delays": [{"call": "pools", "hang_until": %q}]}]}`, gate))
	scan, err := hmn.Scan(background)
	expectError(t, "error", err, nil)
	expect(t, "count", scan.Count, 1)
	results := make(chan error)
	go func() {
		_, err := hmn.Pool(background, 0, PoolMain, 0, 0)
		results <- err
	}()
	expectError(t, "cancel", hmn.Cancel(), nil)
	expectError(t, "waiting", <-results, ErrCancelled)
	_, err = hmn.Scan(background)
	expectError(t, "later", err, ErrCancelled)
	_, err = hmn.OwnMemory(0)
	expectError(t, "without waiting", err, nil)
	expectError(t, "resume", hmn.Resume(), nil)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pool, err := hmn.Pool(background, 0, PoolMain, 0, 0)
	expectError(t, "error", err, nil)
	expect(t, "total", pool.TotalBytes, Some(uint64(5)))
}

func TestContextRefusesWrongArguments(t *testing.T) {
	hmn := openMachine(t, twoDevices)
	expectError(t, "relative", hmn.SetPath(PathProc, "proc"), ErrArgument)
	expectError(t, "empty", hmn.SetPath(PathProc, ""), ErrArgument)
	expectError(t, "NUL", hmn.SetPath(PathProc, "/a\x00b"), ErrArgument)
	expectError(t, "no such path", hmn.SetPath(99, "/a"), ErrRange)
	expectError(t, "default", hmn.ResetPath(PathProc), nil)
	_, err := hmn.FindDevice("uuid:GPU-9")
	expectError(t, "no such uuid", err, ErrNoDevice)
	_, err = hmn.FindDevice("colour:red")
	expectError(t, "no such key", err, ErrArgument)
	_, err = hmn.FindDevice("uuid:GPU-1\x00")
	expectError(t, "NUL", err, ErrArgument)
	_, err = hmn.Usage(background, 0, 0, 0)
	expectError(t, "pid 0", err, ErrRange)
	_, err = hmn.Usage(background, 0, 4711, 0)
	expectError(t, "pid 4711", err, ErrNoProcess)
	_, err = hmn.Pool(background, 0, 77, 0, 0)
	expectError(t, "no such pool", err, ErrRange)
	_, err = hmn.Telemetry(background, 0, 1<<31)
	expectError(t, "no such field", err, ErrUnknownFlag)
	_, err = hmn.Backend(background, 63)
	expectError(t, "no such backend", err, ErrRange)
	expectError(t, "too late", hmn.SetPath(PathProc, t.TempDir()), ErrState)
	_, err = NewContext(&ContextOptions{Flags: 1 << 30})
	expectError(t, "no such flag", err, ErrUnknownFlag)
}

// An error has the status, the number and the message of the driver's failure.
func TestContextReturnsTheErrorOfEachFailure(t *testing.T) {
	for word, sentinel := range map[string]error{"no_memory": ErrNoMemory, "unsupported": ErrUnsupported,
		"no_source": ErrNoSource, "no_process": ErrNoProcess, "permission": ErrPermission,
		"timeout": ErrTimeout, "device_lost": ErrDeviceLost, "backend": ErrBackend, "limit": ErrLimit,
		"overflow": ErrOverflow, "asleep": ErrAsleep, "no_device": ErrNoDevice} {
		hmn := openMachine(t, fmt.Sprintf(`{"devices": [{"pools": [{"kind": "vram", "total": "1GiB"}],
		  "failures": [{"call": "pools", "status": %q, "native": {"domain": "nvml", "code": 15},
		    "message": "the card is out"}]}]}`, word))
		_, err := hmn.Pool(background, 0, PoolMain, 0, 0)
		expectError(t, word, err, sentinel)
		var failure *Error
		if !errors.As(err, &failure) {
			t.Fatalf("%s: %T", word, err)
		}
		expect(t, word+": name", failure.Status.String(), "HMN_E_"+upper(word))
		expect(t, word+": backend", failure.Backend, BackendSimulated)
		expect(t, word+": domain", failure.NativeDomain, NativeNVML)
		expect(t, word+": code", failure.NativeCode, 15)
		expect(t, word+": reason", failure.Reason == ReasonUnknown, false)
		expect(t, word+": message", failure.Message == "", false)
	}
}

func upper(word string) string {
	text := []byte(word)
	for i, letter := range text {
		if letter != '_' {
			text[i] = letter - 'a' + 'A'
		}
	}
	return string(text)
}

func TestContextReadsTheEnvironment(t *testing.T) {
	path := t.TempDir() + "/machine.json"
	if err := os.WriteFile(path, []byte(`{"devices": [{"name": "a"}, {"name": "b"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HMN_SIMULATION", path)
	hmn, err := NewContext(&ContextOptions{Flags: ContextEnvironment})
	if err != nil {
		t.Fatal(err)
	}
	defer hmn.Close()
	scan, err := hmn.Scan(background)
	expectError(t, "error", err, nil)
	expect(t, "count", scan.Count, 2)
}

func TestContextListsOnlyRequestedDeviceClasses(t *testing.T) {
	path := t.TempDir() + "/machine.json"
	if err := os.WriteFile(path, []byte(`{"devices": [{"name": "a", "device_class": "npu"}, {"name": "b"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HMN_SIMULATION", path)
	for _, class := range []DeviceClass{DeviceClassGPU, DeviceClassNPU} {
		hmn, err := NewContext(&ContextOptions{Flags: ContextEnvironment, DeviceClasses: 1 << class})
		if err != nil {
			t.Fatal(err)
		}
		scan, err := hmn.Scan(background)
		expectError(t, "error", err, nil)
		expect(t, "count", scan.Count, 1)
		device, err := hmn.Device(0, 0)
		expectError(t, "error", err, nil)
		expect(t, "class", device.DeviceClass, class)
		hmn.Close()
	}
}

// calls returns calls of all methods of a context and a snapshot.
func calls(hmn *Context, snapshot *Snapshot) map[string]func() error {
	return map[string]func() error{
		"SetPath":       func() error { return hmn.SetPath(PathProc, "/proc") },
		"ResetPath":     func() error { return hmn.ResetPath(PathProc) },
		"Backend":       func() error { _, err := hmn.Backend(background, BackendOS); return err },
		"ProcessMemory": func() error { _, err := hmn.ProcessMemory(1, 0); return err },
		"OwnMemory":     func() error { _, err := hmn.OwnMemory(0); return err },
		"SystemMemory":  func() error { _, err := hmn.SystemMemory(0); return err },
		"Scan":          func() error { _, err := hmn.Scan(background); return err },
		"FindDevice":    func() error { _, err := hmn.FindDevice("uuid:a"); return err },
		"Device":        func() error { _, err := hmn.Device(0, 0); return err },
		"Pool":          func() error { _, err := hmn.Pool(background, 0, PoolMain, 0, 0); return err },
		"Telemetry":     func() error { _, err := hmn.Telemetry(background, 0, 0); return err },
		"Usage":         func() error { _, err := hmn.Usage(background, 0, 1, 0); return err },
		"OwnUsage":      func() error { _, err := hmn.OwnUsage(background, 0, 0); return err },
		"Take":          func() error { _, err := hmn.Take(background, nil); return err },
		"JSON":          func() error { _, err := snapshot.JSON(); return err },
		"DeltaSince":    func() error { _, err := snapshot.DeltaSince(snapshot, 0); return err },
		"DeltaLine":     func() error { _, err := snapshot.DeltaLine(snapshot, 0, "x", 0); return err },
		"BeforeAfter":   func() error { _, err := snapshot.BeforeAfterLines(snapshot, 0, "x", 0); return err },
		"DeviceLine":    func() error { _, err := snapshot.DeviceLine(0, FormatFree, 0); return err },
	}
}

func TestMethodsAfterCloseReturnErrClosed(t *testing.T) {
	hmn := openMachine(t, twoDevices)
	snapshot := take(t, hmn, everything)
	for i := 0; i < 2; i++ {
		expectError(t, "close", hmn.Close(), nil)
		expectError(t, "close", snapshot.Close(), nil)
	}
	for name, call := range calls(hmn, snapshot) {
		expectError(t, name, call(), ErrClosed)
	}
	expect(t, "devices", len(snapshot.Devices()), 2)
	_, ok := snapshot.Memory()
	expect(t, "memory", ok, true)
}

func TestMethodsOfNilReturnErrClosed(t *testing.T) {
	var none *Snapshot
	for _, pair := range []struct {
		*Context
		*Snapshot
	}{{nil, nil}, {new(Context), none}, {nil, nil}} {
		for name, call := range calls(pair.Context, pair.Snapshot) {
			expectError(t, name, call(), ErrClosed)
		}
		expectError(t, "close", pair.Context.Close(), nil)
		expectError(t, "close", pair.Snapshot.Close(), nil)
	}
	expect(t, "info", none.Info(), SnapshotInfo{})
	expect(t, "lists", len(none.Devices())+len(none.Pools())+len(none.Usages())+len(none.Diagnostics()), 0)
	_, memory := none.Memory()
	_, system := none.System()
	expect(t, "memory", memory || system, false)
	_, err := none.Device(0)
	expectError(t, "device", err, ErrClosed)
	_, err = none.Pool(0)
	expectError(t, "pool", err, ErrClosed)
	_, err = none.Usage(0)
	expectError(t, "usage", err, ErrClosed)
	_, err = none.Diagnostic(0)
	expectError(t, "diagnostic", err, ErrClosed)

	var empty Snapshot
	_, err = empty.JSON()
	expectError(t, "an empty one", err, ErrClosed)
	expectError(t, "close", empty.Close(), nil)
	var outer struct {
		number   int
		snapshot Snapshot
	}
	expectError(t, "close of a part", outer.snapshot.Close(), nil)
}

func TestDeltaOfClosedSnapshotReturnsErrClosed(t *testing.T) {
	hmn := openMachine(t, growingMachine)
	before, after := take(t, hmn, 0), take(t, hmn, 0)
	before.Close()
	_, err := after.DeltaSince(before, 0)
	expectError(t, "before", err, ErrClosed)
	_, err = before.DeltaSince(after, 0)
	expectError(t, "after", err, ErrClosed)
}
