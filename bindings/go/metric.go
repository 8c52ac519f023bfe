// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis.invalid/bindings/go/internal/raw"

// String is the metric's name, for instance "temperature"; "unknown" for one that the library does not
// know.
func (m MetricID) String() string {
	return raw.Metric_name(uint32(m))
}

// Unit returns the metric's unit, for instance "W"; "" for a plain number.
func (m MetricID) Unit() string {
	return raw.Metric_unit(uint32(m))
}

// Kind reports how to use the metric's number: whether to show it as it is, or to take differences.
func (m MetricID) Kind() NumberKind {
	return NumberKind(raw.Metric_kind(uint32(m)))
}

// Metrics returns the metrics that the library knows.
func Metrics() []MetricID {
	var all []MetricID
	for id := raw.Metric_next(0); id != 0; id = raw.Metric_next(id) {
		all = append(all, MetricID(id))
	}
	return all
}

// InstanceName returns the name of an instance, for instance "hotspot"; "" for the whole device, and for fans
// and links.
func (m MetricID) InstanceName(instance uint32) string {
	return raw.Metric_instance_name(uint32(m), instance)
}
