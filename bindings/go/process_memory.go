// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// ProcessMemory is the host RAM of one process, in bytes.
type ProcessMemory struct {
	Notes              Notes            `json:"notes"`   // remarks on the whole record
	Backend            Backend          `json:"backend"` // who measured; of several the first
	PID                uint32           `json:"pid"`
	ResidentBytes      Optional[uint64] `json:"resident_bytes"`       // RSS: anonymous, file and shared pages
	PeakResidentBytes  Optional[uint64] `json:"peak_resident_bytes"`  // highest RSS so far
	VirtualBytes       Optional[uint64] `json:"virtual_bytes"`        // address space
	SwapBytes          Optional[uint64] `json:"swap_bytes"`           // anonymous pages swapped out
	ProportionalBytes  Optional[uint64] `json:"proportional_bytes"`   // PSS: shared pages divided by their users
	PrivateBytes       Optional[uint64] `json:"private_bytes"`        // USS: pages that no other process maps
	CommittedBytes     Optional[uint64] `json:"committed_bytes"`      // Windows: PrivateUsage; absent elsewhere
	FootprintBytes     Optional[uint64] `json:"footprint_bytes"`      // macOS: phys_footprint; absent elsewhere
	PeakFootprintBytes Optional[uint64] `json:"peak_footprint_bytes"` // macOS: highest phys_footprint so far; absent elsewhere
	PeakCommittedBytes Optional[uint64] `json:"peak_committed_bytes"` // Windows: PeakPagefileUsage; absent elsewhere
}

func newProcessMemory(from *raw.ProcessMemory) ProcessMemory {
	return ProcessMemory{
		Notes:              Notes(from.Notes),
		Backend:            Backend(from.Backend),
		PID:                from.Pid,
		ResidentBytes:      optional(from.Present, ProcessMemoryHasResident, from.ResidentBytes),
		PeakResidentBytes:  optional(from.Present, ProcessMemoryHasPeakResident, from.PeakResidentBytes),
		VirtualBytes:       optional(from.Present, ProcessMemoryHasVirtual, from.VirtualBytes),
		SwapBytes:          optional(from.Present, ProcessMemoryHasSwap, from.SwapBytes),
		ProportionalBytes:  optional(from.Present, ProcessMemoryHasProportional, from.ProportionalBytes),
		PrivateBytes:       optional(from.Present, ProcessMemoryHasPrivate, from.PrivateBytes),
		CommittedBytes:     optional(from.Present, ProcessMemoryHasCommitted, from.CommittedBytes),
		FootprintBytes:     optional(from.Present, ProcessMemoryHasFootprint, from.FootprintBytes),
		PeakFootprintBytes: optional(from.Present, ProcessMemoryHasPeakFootprint, from.PeakFootprintBytes),
		PeakCommittedBytes: optional(from.Present, ProcessMemoryHasPeakCommitted, from.PeakCommittedBytes),
	}
}
