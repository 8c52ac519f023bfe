// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// Metric is one number of a device, with its own source and age. Either Value or Count is there.
type Metric struct {
	Notes       Notes             `json:"notes"`   // remarks on the whole record
	Backend     Backend           `json:"backend"` // who measured
	DeviceIndex uint32            `json:"device_index"`
	PID         Optional[uint32]  `json:"pid"` // of this process, not of the device
	ID          MetricID          `json:"id"`
	Instance    uint32            `json:"instance"`  // an Engine, Sensor and so on, a Throttle, or a fan or link from 0
	Value       Optional[float64] `json:"value"`     // a reading
	Count       Optional[uint64]  `json:"count"`     // ever growing, or whole by nature
	WindowNs    Optional[uint64]  `json:"window_ns"` // what Value averages over
	AgeNs       uint64            `json:"age_ns"`    // since the driver was asked
	Group       Optional[string]  `json:"group"`     // of a snapshot's metrics: the control group that it is of
}

// String is the metric's name, for instance "temperature"; "unknown" for one that the library does not
// know.
func (m MetricID) String() string {
	return raw.Metric_name(uint32(m))
}

// Unit is what the metric is counted in, for instance "W"; "" for a plain number.
func (m MetricID) Unit() string {
	return raw.Metric_unit(uint32(m))
}

// InstanceName is the name of an instance, for instance "hotspot"; "" for the whole device, and for fans
// and links.
func (m MetricID) InstanceName(instance uint32) string {
	return raw.Metric_instance_name(uint32(m), instance)
}

func newMetric(from *raw.Metric) Metric {
	return Metric{
		Notes:       Notes(from.Notes),
		Backend:     Backend(from.Backend),
		DeviceIndex: from.DeviceIndex,
		PID:         optional(from.Present, MetricHasPID, from.Pid),
		ID:          MetricID(from.Id),
		Instance:    from.Instance,
		Value:       optional(from.Present, MetricHasValue, from.Value),
		Count:       optional(from.Present, MetricHasCount, from.Count),
		WindowNs:    optional(from.Present, MetricHasWindow, from.WindowNs),
		AgeNs:       from.AgeNs,
	}
}
