// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestSnapshotHoldsEverything(t *testing.T) {
	snapshot := take(t, machine(t, twoDevices), everything)
	info := snapshot.Info()
	want(t, "device count", info.DeviceCount, 2)
	want(t, "pool count", info.PoolCount, 3)
	want(t, "usage count", info.UsageCount, 3)
	want(t, "collect", info.Collect, everything)

	memory, ok := snapshot.Memory()
	want(t, "memory", ok, true)
	want(t, "resident", memory.ResidentBytes, Some(uint64(12<<20)))
	want(t, "virtual", memory.VirtualBytes, Some(uint64(171<<20)))
	want(t, "pid", memory.PID, uint32(os.Getpid()))
	system, ok := snapshot.System()
	want(t, "system", ok, true)
	want(t, "total", system.TotalBytes, Some(uint64(64<<30)))
	want(t, "limit", system.LimitBytes.Present(), false)

	devices := snapshot.Devices()
	want(t, "devices", len(devices), 2)
	want(t, "its pools", len(devices[0].Pools), 2)
	want(t, "the other's pools", len(devices[1].Pools), 1)
	want(t, "the other's total", devices[1].Pools[0].TotalBytes, Some(uint64(8<<30)))
	want(t, "main", devices[0].Pools[0].IsMain, true)
	want(t, "second", devices[0].Pools[1].Kind, PoolHost)
	own, ok := devices[0].OwnUsage.Get()
	want(t, "own usage", ok, true)
	want(t, "own bytes", own.UsedBytes, Some(uint64(5<<20)))
}

func TestSnapshotTellsAbsent(t *testing.T) {
	snapshot := take(t, machine(t, twoDevices), everything)
	first, err := snapshot.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "used", first.Pools[0].UsedBytes, Optional[uint64]{})
	telemetry, _ := first.Telemetry.Get()
	want(t, "busy", telemetry.GPUBusyPercent, Some(0.0))
	want(t, "temperature", telemetry.TemperatureCelsius, Some(41.5))
	want(t, "hotspot", telemetry.HotspotCelsius, Optional[float64]{})
	want(t, "throttle", telemetry.Throttle, Some(ThrottleIdle|ThrottlePower))
	second, _ := snapshot.Device(1)
	want(t, "name", second.Name, Optional[string]{})
	want(t, "telemetry", second.Telemetry.Present(), false)

	lean := take(t, machine(t, twoDevices), CollectDevices)
	_, ok := lean.Memory()
	want(t, "memory", ok, false)
	_, ok = lean.System()
	want(t, "system", ok, false)
	want(t, "pools", len(lean.Devices()[0].Pools), 0)
	want(t, "own usage", lean.Devices()[0].OwnUsage.Present(), false)
}

func TestSnapshotIsExact(t *testing.T) {
	first, err := take(t, machine(t, twoDevices), everything).Device(0)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "2^48", first.Pools[0].TotalBytes, Some(uint64(1<<48)))
	want(t, "2^48-1", first.Pools[0].FreeBytes, Some(uint64(1<<48-1)))
	telemetry, _ := first.Telemetry.Get()
	want(t, "received", telemetry.PCIeRxBytes, Some(^uint64(0)))
}

func TestSnapshotSpeaksUTF8(t *testing.T) {
	snapshot := take(t, machine(t, twoDevices), everything)
	want(t, "name", snapshot.Devices()[0].Name, Some("Größte Karte 猫"))
	usages := snapshot.Usages()
	names := map[uint32]Optional[string]{}
	for _, usage := range usages {
		names[usage.PID] = usage.Name
	}
	want(t, "process name", names[40], Some("größe\tß"))
	want(t, "unknown name", names[41], Optional[string]{})
}

// More bytes of names than one guess holds.
func TestSnapshotLongNames(t *testing.T) {
	long := strings.Repeat("長", 60)
	snapshot := take(t, machine(t, strings.ReplaceAll(twoDevices, `größe\tß`, long)), everything)
	usage, err := snapshot.Usage(1)
	if err != nil || usage.PID != 41 {
		usage, _ = snapshot.Usage(0)
	}
	found := false
	for _, usage := range snapshot.Usages() {
		found = found || usage.PID == 40 && usage.Name == Some(long)
	}
	want(t, "the long name", found, true)
	want(t, "the name after it", usage.Name, Optional[string]{})
}

func TestSnapshotGivesCopies(t *testing.T) {
	snapshot := take(t, machine(t, twoDevices), everything)
	devices := snapshot.Devices()
	devices[0].Name = Some("other")
	devices[0].Pools[0].TotalBytes = Some(uint64(1))
	snapshot.Pools()[0].FreeBytes = Optional[uint64]{}
	snapshot.Usages()[0].PID = 7
	device, _ := snapshot.Device(0)
	device.Pools[0].Kind = PoolStolen
	again, _ := snapshot.Device(0)
	want(t, "name", again.Name, Some("Größte Karte 猫"))
	want(t, "total", again.Pools[0].TotalBytes, Some(uint64(1<<48)))
	want(t, "kind", again.Pools[0].Kind, PoolVRAM)
	want(t, "free", again.Pools[0].FreeBytes, Some(uint64(1<<48-1)))
	usage, _ := snapshot.Usage(0)
	want(t, "pid changed", usage.PID == 7, false)
}

func TestSnapshotPositions(t *testing.T) {
	snapshot := take(t, machine(t, twoDevices), everything)
	for _, i := range []int{-1, 3, 1 << 32} {
		_, err := snapshot.Device(i)
		wantError(t, "device", err, ErrRange)
		_, err = snapshot.Pool(i)
		wantError(t, "pool", err, ErrRange)
		_, err = snapshot.Usage(i)
		wantError(t, "usage", err, ErrRange)
	}
	pool, err := snapshot.DevicePool(0, PoolMain, 0)
	want(t, "main pool", err == nil && pool.IsMain && pool.DeviceIndex == 0, true)
	_, err = snapshot.DevicePool(0, PoolStolen, 0)
	wantError(t, "pool that the device lacks", err, ErrEmpty)
	_, err = snapshot.DevicePool(3, PoolMain, 0)
	wantError(t, "pool", err, ErrNoDevice)
	_, err = snapshot.DeviceLine(3, FormatFree, 0)
	wantError(t, "line", err, ErrNoDevice)
	_, err = snapshot.Diagnostic(len(snapshot.Diagnostics()))
	wantError(t, "diagnostic", err, ErrRange)
}

func TestSnapshotDiagnostics(t *testing.T) {
	snapshot := take(t, machine(t, `{"devices": [{"pools": [{"kind": "vram", "total": "1GiB"}],
	  "failures": [{"call": "pools", "status": "permission", "native": {"domain": "nvml", "code": 4},
	    "message": "not for you"}]}]}`), CollectDevices|CollectPools)
	list := snapshot.Diagnostics()
	want(t, "diagnostics", len(list), 1)
	want(t, "status", list[0].Status, StatusPermission)
	want(t, "subject", list[0].Subject, CollectPools)
	want(t, "device", list[0].DeviceIndex, Some(uint32(0)))
	want(t, "pid", list[0].PID.Present(), false)
	want(t, "domain", list[0].NativeDomain, NativeNVML)
	want(t, "code", list[0].NativeCode, 4)
	want(t, "message", strings.Contains(list[0].Message, "not for you"), true)
	want(t, "partial", snapshot.Info().Notes&NotePartial != 0, true)
}

func TestSnapshotOptions(t *testing.T) {
	context := machine(t, twoDevices)
	one, err := context.Take(&SnapshotOptions{Flags: SnapshotOneDevice | SnapshotOneProcess, DeviceIndex: 0,
		PID: 41, Collect: CollectProcesses})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want(t, "devices", one.Info().DeviceCount, 1)
	want(t, "usages", len(one.Usages()), 1)
	_, err = context.Take(&SnapshotOptions{DeviceIndex: 1})
	wantError(t, "an index without its flag", err, ErrArgument)
	_, err = context.Take(&SnapshotOptions{Flags: SnapshotOneProcess})
	wantError(t, "pid 0", err, ErrRange)
	_, err = context.Take(&SnapshotOptions{Flags: SnapshotOneDevice, DeviceIndex: 9})
	wantError(t, "device 9", err, ErrNoDevice)
	_, err = context.Take(&SnapshotOptions{Collect: 1 << 30})
	wantError(t, "an unknown bit", err, ErrUnknownFlag)
}

const growing = `{"host": {"self": {"resident": "100MiB", "virtual": "1GiB"}},
 "devices": [{"name": "card", "pools": [{"kind": "vram", "total": "16GiB", "used": "1GiB"}],
   "processes": [{"pid": "self", "used": "1GiB"}]}],
 "changes": [{"at_reading": 2, "host": {"self": {"resident": "150MiB", "virtual": "1GiB"}},
   "devices": [{"name": "card", "pools": [{"kind": "vram", "total": "16GiB", "used": "1GiB"}],
     "processes": [{"pid": "self", "used": "3GiB"}]}]}]}`

func TestSnapshotChange(t *testing.T) {
	context := machine(t, growing)
	collect := CollectMemory | CollectDevices | CollectPools | CollectSelf
	before, after := take(t, context, collect), take(t, context, collect)
	delta, err := after.DeltaSince(before, 0)
	wantError(t, "error", err, nil)
	want(t, "host", delta.MemoryBytes, Some(int64(50<<20)))
	want(t, "device", delta.DeviceBytes, Some(int64(2<<30)))
	want(t, "scope", delta.Scope, DeltaScopeProcess)
	text, err := after.DeltaLine(before, 0, "wörk", 0)
	wantError(t, "error", err, nil)
	want(t, "line", text, "  wörk: RAM +50 MiB  |  VRAM +2048 MiB [per-process]\n")
	text, err = after.BeforeAfterLines(before, 0, "work", 0)
	wantError(t, "error", err, nil)
	want(t, "lines", strings.Count(text, "\n"), 2)

	_, err = before.DeltaSince(after, 0)
	wantError(t, "the wrong way round", err, ErrArgument)
	_, err = after.DeltaSince(nil, 0)
	wantError(t, "since nothing", err, ErrArgument)
	_, err = after.DeltaSince(before, 7)
	wantError(t, "no such device", err, ErrNoDevice)
	bare := take(t, context, CollectDevices)
	_, err = bare.DeltaLine(before, 0, "x", 0)
	wantError(t, "no host memory", err, ErrEmpty)
	_, err = after.DeltaLine(before, 0, "a\x00b", 0)
	wantError(t, "a NUL", err, ErrArgument)
}

func TestSnapshotTexts(t *testing.T) {
	snapshot := take(t, machine(t, growing), 0)
	text, err := snapshot.DeviceLine(0, FormatTotal, 0)
	wantError(t, "error", err, nil)
	want(t, "line", strings.Contains(text, "16384 MiB") && strings.Contains(text, "[card]"), true)
	_, err = snapshot.DeviceLine(0, 99, 0)
	wantError(t, "no such format", err, ErrRange)
	text, err = snapshot.JSON()
	wantError(t, "error", err, nil)
	var parsed map[string]interface{}
	wantError(t, "parsed", json.Unmarshal([]byte(text), &parsed), nil)
	want(t, "devices", len(parsed["devices"].([]interface{})), 1)
}
