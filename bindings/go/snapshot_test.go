// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestSnapshotHoldsEverything(t *testing.T) {
	snapshot := take(t, openMachine(t, twoDevices), everything)
	info := snapshot.Info()
	expect(t, "device count", info.DeviceCount, 2)
	expect(t, "pool count", info.PoolCount, 3)
	expect(t, "usage count", info.UsageCount, 3)
	expect(t, "collect", info.Collect, everything)

	memory, ok := snapshot.Memory()
	expect(t, "memory", ok, true)
	expect(t, "resident", memory.ResidentBytes, Some(uint64(12<<20)))
	expect(t, "virtual", memory.VirtualBytes, Some(uint64(171<<20)))
	expect(t, "pid", memory.PID, uint32(os.Getpid()))
	system, ok := snapshot.System()
	expect(t, "system", ok, true)
	expect(t, "total", system.TotalBytes, Some(uint64(64<<30)))
	expect(t, "limit", system.LimitBytes.Present(), false)

	devices := snapshot.Devices()
	expect(t, "devices", len(devices), 2)
	expect(t, "its pools", len(devices[0].Pools), 2)
	expect(t, "the other's pools", len(devices[1].Pools), 1)
	expect(t, "the other's total", devices[1].MainPool().TotalBytes, Some(uint64(8<<30)))
	expect(t, "main", devices[0].Pools[0].IsMain, true)
	expect(t, "second", devices[0].Pools[1].Kind, PoolHost)
	own, ok := devices[0].OwnUsage.Get()
	expect(t, "own usage", ok, true)
	expect(t, "own bytes", own.UsedBytes, Some(uint64(5<<20)))
}

func TestSnapshotDistinguishesAbsentFromZero(t *testing.T) {
	snapshot := take(t, openMachine(t, twoDevices), everything)
	first, err := snapshot.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "used", first.Pools[0].UsedBytes, Optional[uint64]{})
	telemetry, _ := first.Telemetry.Get()
	expect(t, "busy", telemetry.GPUBusyPercent, Some(0.0))
	expect(t, "temperature", telemetry.TemperatureCelsius, Some(41.5))
	expect(t, "hotspot", telemetry.HotspotCelsius, Optional[float64]{})
	expect(t, "throttle", telemetry.Throttle, Some(ThrottleIdle|ThrottlePower))
	second, _ := snapshot.Device(1)
	expect(t, "name", second.Name, Optional[string]{})
	expect(t, "telemetry", second.Telemetry.Present(), false)

	lean := take(t, openMachine(t, twoDevices), CollectDevices)
	_, ok := lean.Memory()
	expect(t, "memory", ok, false)
	_, ok = lean.System()
	expect(t, "system", ok, false)
	expect(t, "pools", len(lean.Devices()[0].Pools), 0)
	expect(t, "own usage", lean.Devices()[0].OwnUsage.Present(), false)
}

func TestSnapshotNumbersAreExact(t *testing.T) {
	first, err := take(t, openMachine(t, twoDevices), everything).Device(0)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "2^48", first.Pools[0].TotalBytes, Some(uint64(1<<48)))
	expect(t, "2^48-1", first.Pools[0].FreeBytes, Some(uint64(1<<48-1)))
	telemetry, _ := first.Telemetry.Get()
	expect(t, "received", telemetry.PCIeRxBytes, Some(^uint64(0)))
}

func TestSnapshotTextsAreUTF8(t *testing.T) {
	snapshot := take(t, openMachine(t, twoDevices), everything)
	expect(t, "name", snapshot.Devices()[0].Name, Some("Größte Karte 猫"))
	usages := snapshot.Usages()
	names := map[uint32]Optional[string]{}
	for _, usage := range usages {
		names[usage.PID] = usage.Name
	}
	expect(t, "process name", names[40], Some("größe\tß"))
	expect(t, "unknown name", names[41], Optional[string]{})
}

// The names need more space than is reserved at first.
func TestSnapshotReadsLongNames(t *testing.T) {
	long := strings.Repeat("長", 60)
	snapshot := take(t, openMachine(t, strings.ReplaceAll(twoDevices, `größe\tß`, long)), everything)
	usage, err := snapshot.Usage(1)
	if err != nil || usage.PID != 41 {
		usage, _ = snapshot.Usage(0)
	}
	hasLongName := false
	for _, usage := range snapshot.Usages() {
		hasLongName = hasLongName || usage.PID == 40 && usage.Name == Some(long)
	}
	expect(t, "the long name", hasLongName, true)
	expect(t, "the name after it", usage.Name, Optional[string]{})
}

func TestSnapshotReturnsCopies(t *testing.T) {
	snapshot := take(t, openMachine(t, twoDevices), everything)
	devices := snapshot.Devices()
	devices[0].Name = Some("other")
	devices[0].Pools[0].TotalBytes = Some(uint64(1))
	snapshot.Pools()[0].FreeBytes = Optional[uint64]{}
	snapshot.Usages()[0].PID = 7
	device, _ := snapshot.Device(0)
	device.Pools[0].Kind = PoolStolen
	second, _ := snapshot.Device(0)
	expect(t, "name", second.Name, Some("Größte Karte 猫"))
	expect(t, "total", second.Pools[0].TotalBytes, Some(uint64(1<<48)))
	expect(t, "kind", second.Pools[0].Kind, PoolVRAM)
	expect(t, "free", second.Pools[0].FreeBytes, Some(uint64(1<<48-1)))
	usage, _ := snapshot.Usage(0)
	expect(t, "pid changed", usage.PID == 7, false)
}

func TestSnapshotRefusesPositionsPastTheEnd(t *testing.T) {
	snapshot := take(t, openMachine(t, twoDevices), everything)
	for _, i := range []int{-1, 3, 1 << 32} {
		_, err := snapshot.Device(i)
		expectError(t, "device", err, ErrRange)
		_, err = snapshot.Pool(i)
		expectError(t, "pool", err, ErrRange)
		_, err = snapshot.Usage(i)
		expectError(t, "usage", err, ErrRange)
	}
	pool, err := snapshot.DevicePool(0, PoolMain, 0)
	expect(t, "main pool", err == nil && pool.IsMain && pool.DeviceIndex == 0, true)
	_, err = snapshot.DevicePool(0, PoolStolen, 0)
	expectError(t, "pool that the device lacks", err, ErrEmpty)
	_, err = snapshot.DevicePool(3, PoolMain, 0)
	expectError(t, "pool", err, ErrNoDevice)
	_, err = snapshot.DeviceLine(3, FormatFree, 0)
	expectError(t, "line", err, ErrNoDevice)
	_, err = snapshot.Diagnostic(len(snapshot.Diagnostics()))
	expectError(t, "diagnostic", err, ErrRange)
}

func TestSnapshotHasADiagnosticOfEachFailure(t *testing.T) {
	snapshot := take(t, openMachine(t, `{"devices": [{"pools": [{"kind": "vram", "total": "1GiB"}],
	  "failures": [{"call": "pools", "status": "permission", "native": {"domain": "nvml", "code": 4},
	    "message": "not for you"}]}]}`), CollectDevices|CollectPools)
	list := snapshot.Diagnostics()
	expect(t, "diagnostics", len(list), 1)
	expect(t, "status", list[0].Status, StatusPermission)
	expect(t, "subject", list[0].Subject, CollectPools)
	expect(t, "device", list[0].DeviceIndex, Some(uint32(0)))
	expect(t, "pid", list[0].PID.Present(), false)
	expect(t, "domain", list[0].NativeDomain, NativeNVML)
	expect(t, "code", list[0].NativeCode, 4)
	expect(t, "message", strings.Contains(list[0].Message, "not for you"), true)
	expect(t, "partial", snapshot.Info().Notes&NotePartial != 0, true)
}

func TestSnapshotFollowsItsOptions(t *testing.T) {
	hmn := openMachine(t, twoDevices)
	snapshot, err := hmn.Take(background, &SnapshotOptions{Flags: SnapshotOneDevice | SnapshotOneProcess, DeviceIndex: 0,
		PID: 41, Collect: CollectProcesses})
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	expect(t, "devices", snapshot.Info().DeviceCount, 1)
	expect(t, "usages", len(snapshot.Usages()), 1)
	_, err = hmn.Take(background, &SnapshotOptions{DeviceIndex: 1})
	expectError(t, "an index without its flag", err, ErrArgument)
	_, err = hmn.Take(background, &SnapshotOptions{Flags: SnapshotOneProcess})
	expectError(t, "pid 0", err, ErrRange)
	_, err = hmn.Take(background, &SnapshotOptions{Flags: SnapshotOneDevice, DeviceIndex: 9})
	expectError(t, "device 9", err, ErrNoDevice)
	_, err = hmn.Take(background, &SnapshotOptions{Collect: 1 << 30})
	expectError(t, "an unknown bit", err, ErrUnknownFlag)
}

const growingMachine = `{"host": {"self": {"resident": "100MiB", "virtual": "1GiB"}},
 "devices": [{"name": "card", "pools": [{"kind": "vram", "total": "16GiB", "used": "1GiB"}],
   "processes": [{"pid": "self", "used": "1GiB"}]}],
 "changes": [{"at_reading": 2, "host": {"self": {"resident": "150MiB", "virtual": "1GiB"}},
   "devices": [{"name": "card", "pools": [{"kind": "vram", "total": "16GiB", "used": "1GiB"}],
     "processes": [{"pid": "self", "used": "3GiB"}]}]}]}`

func TestDeltaIsTheChangeBetweenTwoSnapshots(t *testing.T) {
	hmn := openMachine(t, growingMachine)
	collect := CollectMemory | CollectDevices | CollectPools | CollectSelf
	before, after := take(t, hmn, collect), take(t, hmn, collect)
	delta, err := after.DeltaSince(before, 0)
	expectError(t, "error", err, nil)
	expect(t, "host", delta.MemoryBytes, Some(int64(50<<20)))
	expect(t, "device", delta.DeviceBytes, Some(int64(2<<30)))
	expect(t, "scope", delta.Scope, DeltaScopeProcess)
	text, err := after.DeltaLine(before, 0, "wörk", 0)
	expectError(t, "error", err, nil)
	expect(t, "line", text, "  wörk: RAM +50 MiB  |  VRAM +2048 MiB [per-process]\n")
	text, err = after.BeforeAfterLines(before, 0, "work", 0)
	expectError(t, "error", err, nil)
	expect(t, "lines", strings.Count(text, "\n"), 2)

	_, err = before.DeltaSince(after, 0)
	expectError(t, "the wrong way round", err, ErrArgument)
	_, err = after.DeltaSince(nil, 0)
	expectError(t, "since nothing", err, ErrArgument)
	_, err = after.DeltaSince(before, 7)
	expectError(t, "no such device", err, ErrNoDevice)
	bare := take(t, hmn, CollectDevices)
	_, err = bare.DeltaLine(before, 0, "x", 0)
	expectError(t, "no host memory", err, ErrEmpty)
	_, err = after.DeltaLine(before, 0, "a\x00b", 0)
	expectError(t, "a NUL", err, ErrArgument)
}

func TestSnapshotIsWrittenAsLineAndJSON(t *testing.T) {
	snapshot := take(t, openMachine(t, growingMachine), 0)
	text, err := snapshot.DeviceLine(0, FormatTotal, 0)
	expectError(t, "error", err, nil)
	expect(t, "line", strings.Contains(text, "16384 MiB") && strings.Contains(text, "[card]"), true)
	_, err = snapshot.DeviceLine(0, 99, 0)
	expectError(t, "no such format", err, ErrRange)
	text, err = snapshot.JSON()
	expectError(t, "error", err, nil)
	var parsed map[string]interface{}
	expectError(t, "parsed", json.Unmarshal([]byte(text), &parsed), nil)
	expect(t, "devices", len(parsed["devices"].([]interface{})), 1)
}

func TestDevicesAndProcessesAreThoseOfASnapshot(t *testing.T) {
	hmn := openMachine(t, twoDevices)
	devices, err := hmn.Devices(background)
	expectError(t, "devices", err, nil)
	expect(t, "count", len(devices), 2)
	expect(t, "total", devices[1].MainPool().TotalBytes, Some(uint64(8<<30)))
	telemetry, _ := devices[0].Telemetry.Get()
	expect(t, "power", telemetry.PowerWatts, Some(20.25))
	expect(t, "no pool", SnapshotDevice{}.MainPool().TotalBytes.Present(), false)
	processes, err := hmn.Processes(background)
	expectError(t, "processes", err, nil)
	expect(t, "count", len(processes), 3)
	for _, process := range processes {
		if process.PID == 40 {
			expect(t, "name", process.Name, Some("größe\tß"))
		}
	}
}
