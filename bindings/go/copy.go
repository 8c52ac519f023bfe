// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"strings"

	"hypomnesis.invalid/bindings/go/internal/raw"
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
	s.metrics = copied(s.info.MetricCount, native.Metrics, newMetric, failure)
	share(s.devices, s.pools, s.metrics)
	s.usages = copied(s.info.UsageCount, native.Usages, newUsage, failure)
	copyTexts(native, s.usages, textsOfUsage[:], failure)
	s.groups = copied(s.info.GroupCount, native.Groups, newGroup, failure)
	copyTexts(native, s.groups, textsOfGroup[:], failure)
	return checked(s, failure)
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

// share gives each device its pools and metrics, which are in the order of the devices.
func share(devices []SnapshotDevice, pools []Pool, metrics []Metric) {
	for i := range devices {
		index := devices[i].Index
		devices[i].Pools, pools = split(pools, func(p *Pool) bool { return p.DeviceIndex == index })
		devices[i].Metrics, metrics = split(metrics, func(m *Metric) bool { return m.DeviceIndex == index })
	}
}

// split gives the entries at the beginning that are meant, and the rest.
func split[T any](list []T, isMeant func(*T) bool) (own, rest []T) {
	end := 0
	for end < len(list) && isMeant(&list[end]) {
		end++
	}
	return list[:end:end], list[end:]
}

const likelyText = 24

type textOf[T any] struct {
	text  uint32
	field func(*T) *Optional[string]
}

// copyTexts gives each of a list its texts: those of one kind in one call, and all through one buffer.
func copyTexts[T any](native raw.Snapshot, list []T, texts []textOf[T], failure *raw.Error) {
	if len(list) == 0 {
		return
	}
	count := uint32(len(list))
	buffer := make([]byte, count*likelyText)
	for _, of := range texts {
		if failure.Status != 0 {
			return
		}
		needed := native.Texts(of.text, count, buffer, failure)
		if needed > uint32(len(buffer)) {
			buffer = make([]byte, needed)
			needed = native.Texts(of.text, count, buffer, failure)
		}
		if failure.Status == 0 && count < needed && needed <= uint32(len(buffer)) {
			splitTexts(string(buffer[:needed]), list, of.field)
		}
	}
}

// splitTexts shares out what raw.Snapshot.Texts gave.
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
