// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"strings"

	"hypomnesis/internal/raw"
)

// copySnapshot copies all that a snapshot holds: one call for each kind of record, however many there are.
func copySnapshot(native raw.Snapshot) (*Snapshot, error) {
	failure := raw.NewError()
	s := &Snapshot{info: converted(native.Info(failure), newSnapshotInfo)}
	if record := native.Memory(failure); record != nil {
		s.memory = Some(newProcessMemory(record))
	}
	if record := native.System(failure); record != nil {
		s.system = Some(newSystemMemory(record))
	}
	s.pools = copied(s.info.PoolCount, native.Pools, newPool, failure)
	s.diagnostics = copied(s.info.DiagnosticCount, native.Diagnostics, newDiagnostic, failure)
	s.devices = copyDevices(native, s.info.DeviceCount, failure)
	share(s.devices, s.pools)
	s.usages = copied(s.info.UsageCount, native.Usages, newUsage, failure)
	for i, name := range copyNames(native, s.info.UsageCount, failure) {
		s.usages[i].Name = name
	}
	return told(s, failure)
}

func records[R any](count uint32, fill func([]R, *raw.Error), failure *raw.Error) []R {
	list := raw.Records[R](count)
	if count > 0 && failure.Status == 0 {
		fill(list, failure)
	}
	return list
}

func copied[R, T any](count uint32, fill func([]R, *raw.Error), convert func(*R) T,
	failure *raw.Error) []T {
	from := records(count, fill, failure)
	list := make([]T, count)
	for i := range list {
		list[i] = convert(&from[i])
	}
	return list
}

func copyDevices(native raw.Snapshot, count uint32, failure *raw.Error) []SnapshotDevice {
	devices := records(count, native.Devices, failure)
	telemetries := records(count, native.Telemetries, failure)
	usages := records(count, native.OwnUsages, failure)
	list := make([]SnapshotDevice, count)
	for i := range list {
		list[i].Device = newDevice(&devices[i])
		if telemetries[i].StructSize != 0 {
			list[i].Telemetry = Some(newTelemetry(&telemetries[i]))
		}
		if usages[i].StructSize != 0 {
			list[i].OwnUsage = Some(newUsage(&usages[i]))
		}
	}
	return list
}

// share gives each device its pools, which stand in the order of the devices.
func share(devices []SnapshotDevice, pools []Pool) {
	for i := range devices {
		end := 0
		for end < len(pools) && pools[end].DeviceIndex == devices[i].Index {
			end++
		}
		devices[i].Pools, pools = pools[:end:end], pools[end:]
	}
}

const likelyName = 24

// copyNames gives the name of each usage; all stand in one text.
func copyNames(native raw.Snapshot, count uint32, failure *raw.Error) []Optional[string] {
	if count == 0 || failure.Status != 0 {
		return nil
	}
	buffer := make([]byte, count*likelyName)
	needed := native.Texts(textProcessName, count, buffer, failure)
	if needed > uint32(len(buffer)) {
		buffer = make([]byte, needed)
		needed = native.Texts(textProcessName, count, buffer, failure)
	}
	if failure.Status != 0 || needed > uint32(len(buffer)) {
		return nil
	}
	names, rest := make([]Optional[string], count), string(buffer[:needed])
	for i := range names {
		end := strings.IndexByte(rest, 0)
		if end < 0 {
			break
		}
		if end > 0 {
			names[i] = Some(rest[1:end])
		}
		rest = rest[end+1:]
	}
	return names
}
