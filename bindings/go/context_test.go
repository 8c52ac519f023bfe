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
	context := machine(t, twoDevices)
	scan, err := context.Scan()
	wantError(t, "error", err, nil)
	want(t, "count", scan.Count, 2)
	want(t, "has a generation", scan.Generation > 0, true)
	index, err := context.FindDevice("uuid:GPU-2")
	wantError(t, "error", err, nil)
	want(t, "index", index, 1)
	device, err := context.Device(0, 0)
	wantError(t, "error", err, nil)
	want(t, "name", device.Name, Some("Größte Karte 猫"))
	pool, err := context.Pool(0, PoolMain, 0, 0)
	wantError(t, "error", err, nil)
	want(t, "total", pool.TotalBytes, Some(uint64(1<<48)))
	telemetry, err := context.Telemetry(0, TelemetryHasPower|TelemetryHasTemperature)
	wantError(t, "error", err, nil)
	want(t, "power", telemetry.PowerWatts, Some(20.25))
	usage, err := context.Usage(0, 40, 0)
	wantError(t, "error", err, nil)
	want(t, "used", usage.UsedBytes, Some(uint64(1<<48-1)))
	own, err := context.OwnUsage(0, 0)
	wantError(t, "error", err, nil)
	want(t, "own", own.UsedBytes, Some(uint64(5<<20)))
	memory, err := context.ProcessMemory(40, ProcessMemoryHasResident)
	wantError(t, "error", err, nil)
	want(t, "resident", memory.ResidentBytes, Some(uint64(1<<30)))
	memory, err = context.OwnMemory(0)
	wantError(t, "error", err, nil)
	want(t, "own resident", memory.ResidentBytes, Some(uint64(12<<20)))
	system, err := context.SystemMemory(0)
	wantError(t, "error", err, nil)
	want(t, "available", system.AvailableBytes, Some(uint64(48<<30)))
	backend, err := context.Backend(BackendSimulated)
	wantError(t, "error", err, nil)
	want(t, "state", backend.State, RunStateReady)
}

func TestCancelEndsAWaitUntilResume(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	context := machine(t, fmt.Sprintf(`{"host": "real", "devices": [{"pools": [{"kind": "vram", "total": 5}],
		"delays": [{"call": "pools", "hang_until": %q}]}]}`, gate))
	found, err := context.Scan()
	wantError(t, "error", err, nil)
	want(t, "count", found.Count, 1)
	ended := make(chan error)
	go func() {
		_, err := context.Pool(0, PoolMain, 0, 0)
		ended <- err
	}()
	wantError(t, "cancel", context.Cancel(), nil)
	wantError(t, "waiting", <-ended, ErrCancelled)
	_, err = context.Scan()
	wantError(t, "later", err, ErrCancelled)
	_, err = context.OwnMemory(0)
	wantError(t, "without waiting", err, nil)
	wantError(t, "resume", context.Resume(), nil)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pool, err := context.Pool(0, PoolMain, 0, 0)
	wantError(t, "error", err, nil)
	want(t, "total", pool.TotalBytes, Some(uint64(5)))
}

func TestContextRefuses(t *testing.T) {
	context := machine(t, twoDevices)
	wantError(t, "relative", context.SetPath(PathProc, "proc"), ErrArgument)
	wantError(t, "empty", context.SetPath(PathProc, ""), ErrArgument)
	wantError(t, "NUL", context.SetPath(PathProc, "/a\x00b"), ErrArgument)
	wantError(t, "no such path", context.SetPath(99, "/a"), ErrRange)
	wantError(t, "default", context.ResetPath(PathProc), nil)
	_, err := context.FindDevice("uuid:GPU-9")
	wantError(t, "no such uuid", err, ErrNoDevice)
	_, err = context.FindDevice("colour:red")
	wantError(t, "no such key", err, ErrArgument)
	_, err = context.FindDevice("uuid:GPU-1\x00")
	wantError(t, "NUL", err, ErrArgument)
	_, err = context.Usage(0, 0, 0)
	wantError(t, "pid 0", err, ErrRange)
	_, err = context.Usage(0, 4711, 0)
	wantError(t, "pid 4711", err, ErrNoProcess)
	_, err = context.Pool(0, 77, 0, 0)
	wantError(t, "no such pool", err, ErrRange)
	_, err = context.Telemetry(0, 1<<31)
	wantError(t, "no such field", err, ErrUnknownFlag)
	_, err = context.Backend(63)
	wantError(t, "no such backend", err, ErrRange)
	wantError(t, "too late", context.SetPath(PathProc, t.TempDir()), ErrState)
	_, err = NewContext(&ContextOptions{Flags: 1 << 30})
	wantError(t, "no such flag", err, ErrUnknownFlag)
}

// The report of a driver arrives with its status, its number and its sentence.
func TestContextEachFailure(t *testing.T) {
	for word, wanted := range map[string]error{"no_memory": ErrNoMemory, "unsupported": ErrUnsupported,
		"no_source": ErrNoSource, "no_process": ErrNoProcess, "permission": ErrPermission,
		"timeout": ErrTimeout, "device_lost": ErrDeviceLost, "backend": ErrBackend, "limit": ErrLimit,
		"overflow": ErrOverflow, "asleep": ErrAsleep, "no_device": ErrNoDevice} {
		context := machine(t, fmt.Sprintf(`{"devices": [{"pools": [{"kind": "vram", "total": "1GiB"}],
		  "failures": [{"call": "pools", "status": %q, "native": {"domain": "nvml", "code": 15},
		    "message": "the card is out"}]}]}`, word))
		_, err := context.Pool(0, PoolMain, 0, 0)
		wantError(t, word, err, wanted)
		var failure *Error
		if !errors.As(err, &failure) {
			t.Fatalf("%s: %T", word, err)
		}
		want(t, word+": name", failure.Status.String(), "HMN_E_"+upper(word))
		want(t, word+": backend", failure.Backend, BackendSimulated)
		want(t, word+": domain", failure.NativeDomain, NativeNVML)
		want(t, word+": code", failure.NativeCode, 15)
		want(t, word+": reason", failure.Reason == ReasonUnknown, false)
		want(t, word+": message", failure.Message == "", false)
	}
}

func upper(word string) string {
	text := []byte(word)
	for i, c := range text {
		if c != '_' {
			text[i] = c - 'a' + 'A'
		}
	}
	return string(text)
}

func TestContextEnvironment(t *testing.T) {
	path := t.TempDir() + "/machine.json"
	if err := os.WriteFile(path, []byte(`{"devices": [{"name": "a"}, {"name": "b"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HMN_SIMULATION", path)
	context, err := NewContext(&ContextOptions{Flags: ContextEnvironment})
	if err != nil {
		t.Fatal(err)
	}
	defer context.Close()
	scan, err := context.Scan()
	wantError(t, "error", err, nil)
	want(t, "count", scan.Count, 2)
}

func TestContextListsOtherClassesWhereAsked(t *testing.T) {
	path := t.TempDir() + "/machine.json"
	if err := os.WriteFile(path, []byte(`{"devices": [{"name": "a", "device_class": "npu"}, {"name": "b"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HMN_SIMULATION", path)
	for _, class := range []DeviceClass{DeviceClassGPU, DeviceClassNPU} {
		context, err := NewContext(&ContextOptions{Flags: ContextEnvironment, DeviceClasses: 1 << class})
		if err != nil {
			t.Fatal(err)
		}
		scan, err := context.Scan()
		wantError(t, "error", err, nil)
		want(t, "count", scan.Count, 1)
		device, err := context.Device(0, 0)
		wantError(t, "error", err, nil)
		want(t, "class", device.DeviceClass, class)
		context.Close()
	}
}

// calls are all that can be asked of a context and a snapshot.
func calls(context *Context, snapshot *Snapshot) map[string]func() error {
	return map[string]func() error{
		"SetPath":       func() error { return context.SetPath(PathProc, "/proc") },
		"ResetPath":     func() error { return context.ResetPath(PathProc) },
		"Backend":       func() error { _, err := context.Backend(BackendOS); return err },
		"ProcessMemory": func() error { _, err := context.ProcessMemory(1, 0); return err },
		"OwnMemory":     func() error { _, err := context.OwnMemory(0); return err },
		"SystemMemory":  func() error { _, err := context.SystemMemory(0); return err },
		"Scan":          func() error { _, err := context.Scan(); return err },
		"FindDevice":    func() error { _, err := context.FindDevice("uuid:a"); return err },
		"Device":        func() error { _, err := context.Device(0, 0); return err },
		"Pool":          func() error { _, err := context.Pool(0, PoolMain, 0, 0); return err },
		"Telemetry":     func() error { _, err := context.Telemetry(0, 0); return err },
		"Usage":         func() error { _, err := context.Usage(0, 1, 0); return err },
		"OwnUsage":      func() error { _, err := context.OwnUsage(0, 0); return err },
		"Take":          func() error { _, err := context.Take(nil); return err },
		"JSON":          func() error { _, err := snapshot.JSON(); return err },
		"DeltaSince":    func() error { _, err := snapshot.DeltaSince(snapshot, 0); return err },
		"DeltaLine":     func() error { _, err := snapshot.DeltaLine(snapshot, 0, "x", 0); return err },
		"BeforeAfter":   func() error { _, err := snapshot.BeforeAfterLines(snapshot, 0, "x", 0); return err },
		"DeviceLine":    func() error { _, err := snapshot.DeviceLine(0, FormatFree, 0); return err },
	}
}

func TestUseAfterClose(t *testing.T) {
	context := machine(t, twoDevices)
	snapshot := take(t, context, everything)
	for i := 0; i < 2; i++ {
		wantError(t, "close", context.Close(), nil)
		wantError(t, "close", snapshot.Close(), nil)
	}
	for name, call := range calls(context, snapshot) {
		wantError(t, name, call(), ErrClosed)
	}
	want(t, "devices", len(snapshot.Devices()), 2)
	_, ok := snapshot.Memory()
	want(t, "memory", ok, true)
}

func TestUseOfNothing(t *testing.T) {
	var none *Snapshot
	for _, each := range []struct {
		*Context
		*Snapshot
	}{{nil, nil}, {new(Context), none}, {nil, nil}} {
		for name, call := range calls(each.Context, each.Snapshot) {
			wantError(t, name, call(), ErrClosed)
		}
		wantError(t, "close", each.Context.Close(), nil)
		wantError(t, "close", each.Snapshot.Close(), nil)
	}
	want(t, "info", none.Info(), SnapshotInfo{})
	want(t, "lists", len(none.Devices())+len(none.Pools())+len(none.Usages())+len(none.Diagnostics()), 0)
	_, memory := none.Memory()
	_, system := none.System()
	want(t, "memory", memory || system, false)
	_, err := none.Device(0)
	wantError(t, "device", err, ErrClosed)
	_, err = none.Pool(0)
	wantError(t, "pool", err, ErrClosed)
	_, err = none.Usage(0)
	wantError(t, "usage", err, ErrClosed)
	_, err = none.Diagnostic(0)
	wantError(t, "diagnostic", err, ErrClosed)

	var empty Snapshot
	_, err = empty.JSON()
	wantError(t, "an empty one", err, ErrClosed)
	wantError(t, "close", empty.Close(), nil)
	var inside struct {
		number   int
		snapshot Snapshot
	}
	wantError(t, "close of a part", inside.snapshot.Close(), nil)
}

// A closed snapshot is refused on either side of a change.
func TestChangeOfClosed(t *testing.T) {
	context := machine(t, growing)
	before, after := take(t, context, 0), take(t, context, 0)
	before.Close()
	_, err := after.DeltaSince(before, 0)
	wantError(t, "before", err, ErrClosed)
	_, err = before.DeltaSince(after, 0)
	wantError(t, "after", err, ErrClosed)
}
