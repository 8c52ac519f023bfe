// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// BackendInfo tells how a backend fares; for doctors and bug reports.
type BackendInfo struct {
	Notes        Notes            `json:"notes"`   // remarks on the whole record
	Backend      Backend          `json:"backend"` // who measured; of several the first
	State        State            `json:"state"`
	Status       Status           `json:"status"`        // StatusOK, or why it cannot serve
	NativeDomain NativeDomain     `json:"native_domain"` // whose number NativeCode is
	NativeCode   int32            `json:"native_code"`
	Version      Optional[string] `json:"version"` // of the driver or tool behind it
	Message      string           `json:"message"` // why it cannot serve, and what can be done; empty when it can
}

func newBackendInfo(from *raw.BackendInfo) BackendInfo {
	return BackendInfo{
		Notes:        Notes(from.Notes),
		Backend:      Backend(from.Backend),
		State:        State(from.State),
		Status:       Status(from.Status),
		NativeDomain: NativeDomain(from.NativeDomain),
		NativeCode:   from.NativeCode,
		Version:      optional(from.Present, backendInfoHasVersion, text(from.Version[:])),
		Message:      text(from.Message[:]),
	}
}
