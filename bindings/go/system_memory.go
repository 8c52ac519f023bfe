// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// SystemMemory is the host's RAM and this container's share of it, in bytes.
type SystemMemory struct {
	Notes            Notes              `json:"notes"`           // remarks on the whole record
	Backend          Backend            `json:"backend"`         // who measured; of several the first
	TotalBytes       Optional[uint64]   `json:"total_bytes"`     // RAM that the kernel manages
	AvailableBytes   Optional[uint64]   `json:"available_bytes"` // what could be used without swapping
	SwapTotalBytes   Optional[uint64]   `json:"swap_total_bytes"`
	SwapFreeBytes    Optional[uint64]   `json:"swap_free_bytes"`
	LimitBytes       Optional[uint64]   `json:"limit_bytes"`      // the tightest limit of this process' control groups, or job objects; absent when none applies
	LimitUsedBytes   Optional[uint64]   `json:"limit_used_bytes"` // what is charged to the group or job with that limit
	CommitLimitBytes Optional[uint64]   `json:"commit_limit_bytes"`
	CommittedBytes   Optional[uint64]   `json:"committed_bytes"`
	Pressure         Optional[Pressure] `json:"pressure"`      // macOS and Windows
	StallPercent     Optional[float64]  `json:"stall_percent"` // of the last 10 s: a task waited for memory; Linux
}

func newSystemMemory(from *raw.SystemMemory) SystemMemory {
	return SystemMemory{
		Notes:            Notes(from.Notes),
		Backend:          Backend(from.Backend),
		TotalBytes:       optional(from.Present, SystemMemoryHasTotal, from.TotalBytes),
		AvailableBytes:   optional(from.Present, SystemMemoryHasAvailable, from.AvailableBytes),
		SwapTotalBytes:   optional(from.Present, SystemMemoryHasSwapTotal, from.SwapTotalBytes),
		SwapFreeBytes:    optional(from.Present, SystemMemoryHasSwapFree, from.SwapFreeBytes),
		LimitBytes:       optional(from.Present, SystemMemoryHasLimit, from.LimitBytes),
		LimitUsedBytes:   optional(from.Present, SystemMemoryHasLimitUsed, from.LimitUsedBytes),
		CommitLimitBytes: optional(from.Present, SystemMemoryHasCommitLimit, from.CommitLimitBytes),
		CommittedBytes:   optional(from.Present, SystemMemoryHasCommitted, from.CommittedBytes),
		Pressure:         optional(from.Present, SystemMemoryHasPressure, Pressure(from.Pressure)),
		StallPercent:     optional(from.Present, SystemMemoryHasStall, from.StallPercent),
	}
}
