// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"fmt"
	"testing"
)

func TestNumbersPrintAsTheirNames(t *testing.T) {
	for _, row := range []struct {
		value    fmt.Stringer
		expected string
	}{
		{VendorNVIDIA, "nvidia"},
		{Vendor(0x1a03), "Vendor(0x1a03)"},
		{DeviceClassGPU, "gpu"},
		{BackendNVIDIASMI, "nvidia-smi"},
		{NoteStale | NotePartial, "stale|partial"},
		{NoteStale | 1<<30, "stale|0x40000000"},
		{Notes(0), "0"},
		{TelemetryHasPower | TelemetryHasTemperature, "temperature|power"},
		{PoolKind(0), "main"},
		{SensorUnknown, "unknown"},
		{PCINumber(0x2684), "0x2684"},
		{PCINumber(0x1), "0x0001"},
	} {
		expect(t, fmt.Sprintf("%T", row.value), row.value.String(), row.expected)
	}
}

func TestDeviceIsReadable(t *testing.T) {
	hmn := openMachine(t, `{"devices": [{"vendor": "nvidia", "pci_device": 9860, "pools": []}]}`)
	devices, err := hmn.Devices(background)
	expectError(t, "devices", err, nil)
	expect(t, "vendor", fmt.Sprint(devices[0].Vendor), "nvidia")
	expect(t, "device", fmt.Sprint(devices[0].PCIDevice), "0x2684")
}
