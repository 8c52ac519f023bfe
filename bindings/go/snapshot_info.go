// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// SnapshotInfo tells what a snapshot holds.
type SnapshotInfo struct {
	Notes                  Notes   `json:"notes"`   // NotePartial: something asked for is missing
	Collect                Collect `json:"collect"` // what was asked for
	DeviceCount            uint32  `json:"device_count"`
	PoolCount              uint32  `json:"pool_count"`
	UsageCount             uint32  `json:"usage_count"`
	DiagnosticCount        uint32  `json:"diagnostic_count"`
	UnreadableProcessCount uint32  `json:"unreadable_process_count"` // processes listed by a driver that the system would not describe
	MetricCount            uint32  `json:"metric_count"`
	UnixTimeNs             uint64  `json:"unix_time_ns"` // when it was begun, since 1970
	MonotonicNs            uint64  `json:"monotonic_ns"` // the same by the clock that never jumps
	DurationNs             uint64  `json:"duration_ns"`  // how long it took
}

func newSnapshotInfo(from *raw.SnapshotInfo) SnapshotInfo {
	return SnapshotInfo{
		Notes:                  Notes(from.Notes),
		Collect:                Collect(from.Collect),
		DeviceCount:            from.DeviceCount,
		PoolCount:              from.PoolCount,
		UsageCount:             from.UsageCount,
		DiagnosticCount:        from.DiagnosticCount,
		UnreadableProcessCount: from.UnreadableProcessCount,
		MetricCount:            from.MetricCount,
		UnixTimeNs:             from.UnixTimeNs,
		MonotonicNs:            from.MonotonicNs,
		DurationNs:             from.DurationNs,
	}
}
