// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis.invalid/bindings/go/internal/raw"

// String is the metric's name, for instance "temperature"; "unknown" for one that the library does not
// know.
func (m MetricID) String() string {
	return raw.Metric_name(uint32(m))
}

// Unit is what the metric is counted in, for instance "W"; "" for a plain number.
func (m MetricID) Unit() string {
	return raw.Metric_unit(uint32(m))
}

// Kind is what the metric's number does: whether to show it as it is, or to take differences.
func (m MetricID) Kind() NumberKind {
	return NumberKind(raw.Metric_kind(uint32(m)))
}

// Metrics are the metrics that the library knows.
func Metrics() []MetricID {
	var all []MetricID
	for n := raw.Metric_next(0); n != 0; n = raw.Metric_next(n) {
		all = append(all, MetricID(n))
	}
	return all
}

// InstanceName is the name of an instance, for instance "hotspot"; "" for the whole device, and for fans
// and links.
func (m MetricID) InstanceName(instance uint32) string {
	return raw.Metric_instance_name(uint32(m), instance)
}
