// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// Delta is what changed from one snapshot to another: after minus before.
type Delta struct {
	Notes        Notes             `json:"notes"`   // remarks on the whole record
	Backend      Backend           `json:"backend"` // who measured; of several the first
	DeviceIndex  uint32            `json:"device_index"`
	Scope        Scope             `json:"scope"`        // whose figure DeviceBytes is: this process' or the device's
	Accounting   Accounting        `json:"accounting"`   // of DeviceBytes
	MemoryBytes  Optional[int64]   `json:"memory_bytes"` // the caller's resident set
	DeviceBytes  Optional[int64]   `json:"device_bytes"` // of the caller when both snapshots know that, else of the device
	ElapsedNs    uint64            `json:"elapsed_ns"`
	EnergyJoules Optional[float64] `json:"energy_joules"` // of the whole device
}

func newDelta(from *raw.Delta) Delta {
	return Delta{
		Notes:        Notes(from.Notes),
		Backend:      Backend(from.Backend),
		DeviceIndex:  from.DeviceIndex,
		Scope:        Scope(from.Scope),
		Accounting:   Accounting(from.Accounting),
		MemoryBytes:  optional(from.Present, deltaHasMemory, from.MemoryBytes),
		DeviceBytes:  optional(from.Present, deltaHasDevice, from.DeviceBytes),
		ElapsedNs:    from.ElapsedNs,
		EnergyJoules: optional(from.Present, deltaHasEnergy, from.EnergyJoules),
	}
}
