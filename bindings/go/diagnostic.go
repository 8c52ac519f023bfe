// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// Diagnostic tells why something is missing, and what can be done.
type Diagnostic struct {
	Notes        Notes            `json:"notes"`         // NoteTrace: not a fault, a recorded driver call
	Backend      Backend          `json:"backend"`       // who measured; of several the first
	Status       Status           `json:"status"`        // StatusUnsupported: this card has no such value; StatusNoDevice: this backend has no device for sure
	NativeDomain NativeDomain     `json:"native_domain"` // whose number NativeCode is
	NativeCode   int32            `json:"native_code"`
	Subject      Collect          `json:"subject"` // the one bit that it is about
	Field        Optional[uint32] `json:"field"`   // the fields of that record that are missing because of it, for instance PoolHasTotal
	DeviceIndex  Optional[uint32] `json:"device_index"`
	PID          Optional[uint32] `json:"pid"`         // of the first, when several were merged
	Count        uint32           `json:"count"`       // how many alike were merged into this one
	DurationNs   Optional[uint64] `json:"duration_ns"` // of a traced call
	Message      string           `json:"message"`     // a sentence that says what can be done
}

func newDiagnostic(from *raw.Diagnostic) Diagnostic {
	return Diagnostic{
		Notes:        Notes(from.Notes),
		Backend:      Backend(from.Backend),
		Status:       Status(from.Status),
		NativeDomain: NativeDomain(from.NativeDomain),
		NativeCode:   from.NativeCode,
		Subject:      Collect(from.Subject),
		Field:        optional(from.Present, diagnosticHasField, from.Field),
		DeviceIndex:  optional(from.Present, diagnosticHasDevice, from.DeviceIndex),
		PID:          optional(from.Present, diagnosticHasPID, from.Pid),
		Count:        from.Count,
		DurationNs:   optional(from.Present, diagnosticHasDuration, from.DurationNs),
		Message:      text(from.Message[:]),
	}
}
