// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"strings"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// copySnapshot copies everything in a snapshot, with one call for each kind of record.
func copySnapshot(native raw.Snapshot) (*Snapshot, error) {
	failure := raw.NewError()
	snapshot := &Snapshot{info: convertRecord(native.Info(failure), newSnapshotInfo)}
	if record := native.Memory(failure); record != nil {
		snapshot.memory = Some(newProcessMemory(record))
	}
	if record := native.System(failure); record != nil {
		snapshot.system = Some(newSystemMemory(record))
	}
	snapshot.pools = copyRecords(snapshot.info.PoolCount, native.Pools, newPool, failure)
	snapshot.diagnostics = copyRecords(snapshot.info.DiagnosticCount, native.Diagnostics, newDiagnostic, failure)
	snapshot.devices = copyDevices(native, snapshot.info.DeviceCount, failure)
	snapshot.metrics = copyRecords(snapshot.info.MetricCount, native.Metrics, newMetric, failure)
	distribute(snapshot.devices, snapshot.pools, snapshot.metrics)
	snapshot.usages = copyRecords(snapshot.info.UsageCount, native.Usages, newUsage, failure)
	copyTexts(native, snapshot.usages, textsOfUsage[:], failure)
	snapshot.groups = copyRecords(snapshot.info.GroupCount, native.Groups, newGroup, failure)
	copyTexts(native, snapshot.groups, textsOfGroup[:], failure)
	return checkResult(snapshot, failure)
}

func readRecords[R any](count uint32, fill func([]R, *raw.Error), failure *raw.Error) []R {
	list := raw.Records[R](count)
	if count > 0 && failure.Status == 0 {
		fill(list, failure)
	}
	return list
}

func copyRecords[R, T any](count uint32, fill func([]R, *raw.Error), convert func(*R) T,
	failure *raw.Error) []T {
	source := readRecords(count, fill, failure)
	list := make([]T, count)
	for i := range list {
		list[i] = convert(&source[i])
	}
	return list
}

func copyDevices(native raw.Snapshot, count uint32, failure *raw.Error) []SnapshotDevice {
	devices := readRecords(count, native.Devices, failure)
	telemetries := readRecords(count, native.Telemetries, failure)
	usages := readRecords(count, native.OwnUsages, failure)
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

// distribute sets the pools and metrics of each device; both lists are in the order of the devices.
func distribute(devices []SnapshotDevice, pools []Pool, metrics []Metric) {
	for i := range devices {
		index := devices[i].Index
		devices[i].Pools, pools = split(pools, func(pool *Pool) bool { return pool.DeviceIndex == index })
		devices[i].Metrics, metrics = split(metrics, func(metric *Metric) bool { return metric.DeviceIndex == index })
	}
}

// split returns the entries before the first that is not the device's own, and the rest.
func split[T any](list []T, isOwn func(*T) bool) (own, rest []T) {
	end := 0
	for end < len(list) && isOwn(&list[end]) {
		end++
	}
	return list[:end:end], list[end:]
}

// expectedTextSize is the space reserved for each text at first.
const expectedTextSize = 24

// textOf is a text of a snapshot, and the field of a record that it becomes.
type textOf[T any] struct {
	id    uint32
	field func(*T) *Optional[string]
}

// copyTexts sets the texts of each record of a list: those of one kind in one call, all through one buffer.
func copyTexts[T any](native raw.Snapshot, list []T, texts []textOf[T], failure *raw.Error) {
	if len(list) == 0 {
		return
	}
	count := uint32(len(list))
	buffer := make([]byte, count*expectedTextSize)
	for _, text := range texts {
		if failure.Status != 0 {
			return
		}
		needed := native.Texts(text.id, count, buffer, failure)
		if needed > uint32(len(buffer)) {
			buffer = make([]byte, needed)
			needed = native.Texts(text.id, count, buffer, failure)
		}
		if failure.Status == 0 && count < needed && needed <= uint32(len(buffer)) {
			splitTexts(string(buffer[:needed]), list, text.field)
		}
	}
}

// splitTexts sets the field of each record to its part of the result of raw.Snapshot.Texts.
func splitTexts[T any](all string, list []T, field func(*T) *Optional[string]) {
	for i := range list {
		end := strings.IndexByte(all, 0)
		if end < 0 {
			return
		}
		if end > 0 {
			*field(&list[i]) = Some(all[1:end])
		}
		all = all[end+1:]
	}
}
