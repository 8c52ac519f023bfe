// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"fmt"
	"math"
	"time"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// VersionNumber returns the library's version: major * 1000000 + minor * 1000 + patch.
func VersionNumber() uint32 {
	return raw.Version_number()
}

// VersionString returns the library's version, for instance "0.1.0".
func VersionString() string {
	return raw.Version_string()
}

// Unlimited and Immediate are durations with a meaning of their own: no limit, and, as an option, no time at
// all. The zero duration is the default of every option.
const (
	Unlimited time.Duration = math.MaxInt64
	Immediate time.Duration = 1
)

// durationConverter converts durations for the native layer, and keeps the error of the first negative one.
type durationConverter struct{ err error }

func (c *durationConverter) ns(name string, duration time.Duration) uint64 {
	if duration == Unlimited {
		return math.MaxUint64
	}
	if duration < 0 && c.err == nil {
		c.err = newRefusal(StatusRange, fmt.Sprintf("%s: %v is less than 0", name, duration))
	}
	return uint64(duration)
}

// newDuration returns a duration of the library; one of more than 292 years is Unlimited.
func newDuration(ns uint64) time.Duration {
	if ns > math.MaxInt64 {
		return Unlimited
	}
	return time.Duration(ns)
}

// newTime returns a time given in nanoseconds since 1970.
func newTime(ns uint64) time.Time {
	return time.Unix(int64(ns/1e9), int64(ns%1e9)).UTC()
}

// Monotonic returns the time of the clock behind every Monotonic. It stops while the machine is suspended.
func Monotonic() time.Duration {
	return newDuration(raw.Monotonic_ns())
}

// HasBackend reports whether a backend is compiled in; false for one that the library does not know.
func HasBackend(backend Backend) bool {
	return raw.Backend_available(uint32(backend)) == 1
}

// HasFeature reports whether the library has a feature; false for one that it does not know.
func HasFeature(feature Feature) bool {
	return raw.Feature(uint32(feature)) == 1
}

// String is the status' name, for instance "HMN_E_RANGE"; "HMN_E_?" for one that the library does not
// know.
func (s Status) String() string {
	if name := raw.Status_name(int32(s)); name != "" {
		return name
	}
	return "HMN_E_UNSUPPORTED" // hypomnesis_dlopen without its library, whose calls have this status
}

// String is the backend's name, for instance "nvml"; "unknown" for one that the library does not know.
func (b Backend) String() string {
	return raw.Backend_name(uint32(b))
}

// String is the reason's name, for instance "not_permitted"; "unknown" for 0 and for one that the library
// does not know.
func (r Reason) String() string {
	return raw.Reason_name(uint32(r))
}

// FormatBytes returns a human-readable size: whole MiB below 1 GiB ("512 MiB", rounded down), else GiB with
// one decimal ("8.2 GiB").
func FormatBytes(bytes uint64) string {
	return raw.FormatBytes(bytes, raw.NewError())
}
