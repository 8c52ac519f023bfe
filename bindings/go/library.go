// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// VersionNumber is the library's version: major * 1000000 + minor * 1000 + patch.
func VersionNumber() uint32 {
	return raw.Version_number()
}

// VersionString is the library's version, for instance "0.1.0".
func VersionString() string {
	return raw.Version_string()
}

// HasFeature reports whether the library has a feature; false for one that it does not know.
func HasFeature(feature Feature) bool {
	return raw.Feature(uint32(feature)) == 1
}

// String is the status' name, for instance "HMN_E_RANGE"; "HMN_E_?" for one that the library does not
// know.
func (s Status) String() string {
	return raw.Status_name(int32(s))
}

// String is the backend's name, for instance "nvml"; "unknown" for one that the library does not know.
func (b Backend) String() string {
	return raw.Backend_name(uint32(b))
}

// FormatBytes is a size for people: whole MiB below 1 GiB ("512 MiB", rounded down), else GiB with one
// decimal ("8.2 GiB").
func FormatBytes(bytes uint64) string {
	return raw.FormatBytes(bytes, raw.NewError())
}
