// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// Usage is the memory of one process on one device: figures of that process only, never the
// device's.
type Usage struct {
	Notes             Notes                `json:"notes"`   // remarks on the whole record
	Backend           Backend              `json:"backend"` // who measured; of several the first
	PID               uint32               `json:"pid"`     // as the driver counts it; NoteForeignPID: of another PID namespace
	DeviceIndex       uint32               `json:"device_index"`
	Kinds             Optional[UsageKinds] `json:"kinds"`            // what it runs there
	Accounting        Accounting           `json:"accounting"`       // what UsedBytes counts
	NameState         NameState            `json:"name_state"`       // what is known of its name
	UID               Optional[uint32]     `json:"uid"`              // effective user id
	GPUInstance       Optional[uint32]     `json:"gpu_instance"`     // MIG
	ComputeInstance   Optional[uint32]     `json:"compute_instance"` // MIG
	StartUnixNs       Optional[uint64]     `json:"start_unix_ns"`    // with PID: tells a reused pid from the old one
	UsedBytes         Optional[uint64]     `json:"used_bytes"`       // the headline, by Accounting
	ResidentBytes     Optional[uint64]     `json:"resident_bytes"`
	CommittedBytes    Optional[uint64]     `json:"committed_bytes"`
	AllocatedBytes    Optional[uint64]     `json:"allocated_bytes"`
	SharedBytes       Optional[uint64]     `json:"shared_bytes"` // the part of UsedBytes that other processes hold as well
	PurgeableBytes    Optional[uint64]     `json:"purgeable_bytes"`
	EvictedBytes      Optional[uint64]     `json:"evicted_bytes"`       // wanted in device memory, and not there now
	HostPoolBytes     Optional[uint64]     `json:"host_pool_bytes"`     // host RAM mapped for the device (GTT, WDDM shared)
	HostResidentBytes Optional[uint64]     `json:"host_resident_bytes"` // RSS: the same in each row of this pid
	BudgetBytes       Optional[uint64]     `json:"budget_bytes"`
	BusyNs            Optional[uint64]     `json:"busy_ns"` // ever growing: take differences
	BusyPercent       Optional[float64]    `json:"busy_percent"`
	WindowNs          Optional[uint64]     `json:"window_ns"`       // what BusyPercent averages over
	AgeNs             uint64               `json:"age_ns"`          // since the driver was asked
	PeakUsedBytes     Optional[uint64]     `json:"peak_used_bytes"` // the most that it has held, as the driver keeps it (NVIDIA's accounting mode)
	Name              Optional[string]     `json:"name"`            // command name; of a snapshot's usages alone, as the next two
	Command           Optional[string]     `json:"command"`         // command line, a blank between arguments
	Container         Optional[string]     `json:"container"`       // "<runtime>:<id>"
}

func newUsage(from *raw.Usage) Usage {
	return Usage{
		Notes:             Notes(from.Notes),
		Backend:           Backend(from.Backend),
		PID:               from.Pid,
		DeviceIndex:       from.DeviceIndex,
		Kinds:             optional(from.Present, UsageHasKinds, UsageKinds(from.Kinds)),
		Accounting:        Accounting(from.Accounting),
		NameState:         NameState(from.NameState),
		UID:               optional(from.Present, UsageHasUID, from.Uid),
		GPUInstance:       optional(from.Present, UsageHasInstance, from.GpuInstance),
		ComputeInstance:   optional(from.Present, UsageHasInstance, from.ComputeInstance),
		StartUnixNs:       optional(from.Present, UsageHasStartTime, from.StartUnixNs),
		UsedBytes:         optional(from.Present, UsageHasUsed, from.UsedBytes),
		ResidentBytes:     optional(from.Present, UsageHasResident, from.ResidentBytes),
		CommittedBytes:    optional(from.Present, UsageHasCommitted, from.CommittedBytes),
		AllocatedBytes:    optional(from.Present, UsageHasAllocated, from.AllocatedBytes),
		SharedBytes:       optional(from.Present, UsageHasShared, from.SharedBytes),
		PurgeableBytes:    optional(from.Present, UsageHasPurgeable, from.PurgeableBytes),
		EvictedBytes:      optional(from.Present, UsageHasEvicted, from.EvictedBytes),
		HostPoolBytes:     optional(from.Present, UsageHasHostPool, from.HostPoolBytes),
		HostResidentBytes: optional(from.Present, UsageHasHostResident, from.HostResidentBytes),
		BudgetBytes:       optional(from.Present, UsageHasBudget, from.BudgetBytes),
		BusyNs:            optional(from.Present, UsageHasBusyNs, from.BusyNs),
		BusyPercent:       optional(from.Present, UsageHasBusyPercent, from.BusyPercent),
		WindowNs:          optional(from.Present, UsageHasBusyPercent, from.WindowNs),
		AgeNs:             from.AgeNs,
		PeakUsedBytes:     optional(from.Present, UsageHasPeakUsed, from.PeakUsedBytes),
	}
}
