// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// Pool is one memory pool of a device, device-wide, in bytes.
type Pool struct {
	Notes             Notes            `json:"notes"`   // remarks on the whole record
	Backend           Backend          `json:"backend"` // who measured; of several the first
	DeviceIndex       uint32           `json:"device_index"`
	Kind              PoolKind         `json:"kind"`       // never PoolMain
	Accounting        Accounting       `json:"accounting"` // what UsedBytes counts
	IsMain            bool             `json:"is_main"`    // allocations come from this pool
	TotalBytes        Optional[uint64] `json:"total_bytes"`
	FreeBytes         Optional[uint64] `json:"free_bytes"`
	UsedBytes         Optional[uint64] `json:"used_bytes"`         // without ReservedBytes where that is known; else with it
	ReservedBytes     Optional[uint64] `json:"reserved_bytes"`     // held by driver and firmware: total = reserved + free + used
	UsableBytes       Optional[uint64] `json:"usable_bytes"`       // best estimate of what one could allocate now
	BudgetBytes       Optional[uint64] `json:"budget_bytes"`       // what a policy lets this process use
	UnattributedBytes Optional[uint64] `json:"unattributed_bytes"` // used, and owned by no process that can be seen; only in snapshots that collect processes
	AgeNs             uint64           `json:"age_ns"`             // since the driver was asked
}

func newPool(from *raw.Pool) Pool {
	return Pool{
		Notes:             Notes(from.Notes),
		Backend:           Backend(from.Backend),
		DeviceIndex:       from.DeviceIndex,
		Kind:              PoolKind(from.Kind),
		Accounting:        Accounting(from.Accounting),
		IsMain:            from.IsMain != 0,
		TotalBytes:        optional(from.Present, PoolHasTotal, from.TotalBytes),
		FreeBytes:         optional(from.Present, PoolHasFree, from.FreeBytes),
		UsedBytes:         optional(from.Present, PoolHasUsed, from.UsedBytes),
		ReservedBytes:     optional(from.Present, PoolHasReserved, from.ReservedBytes),
		UsableBytes:       optional(from.Present, PoolHasUsable, from.UsableBytes),
		BudgetBytes:       optional(from.Present, PoolHasBudget, from.BudgetBytes),
		UnattributedBytes: optional(from.Present, PoolHasUnattributed, from.UnattributedBytes),
		AgeNs:             from.AgeNs,
	}
}
