// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "hypomnesis/internal/raw"

// Telemetry is load, temperature and power of a device.
type Telemetry struct {
	Notes              Notes              `json:"notes"`   // remarks on the whole record
	Backend            Backend            `json:"backend"` // who measured; of several the first
	DeviceIndex        uint32             `json:"device_index"`
	CoreClockMHz       Optional[uint32]   `json:"core_clock_mhz"`
	MemoryClockMHz     Optional[uint32]   `json:"memory_clock_mhz"`
	FanPercent         Optional[uint32]   `json:"fan_percent"` // of the fan's highest speed; may pass 100
	FanRPM             Optional[uint32]   `json:"fan_rpm"`
	PCIeGeneration     Optional[uint32]   `json:"pcie_generation"`      // of the link as it runs now
	PCIeWidth          Optional[uint32]   `json:"pcie_width"`           // lanes in use now
	PState             Optional[uint32]   `json:"p_state"`              // NVIDIA: 0 is the fastest
	Throttle           Optional[Throttle] `json:"throttle"`             // why clocks are held down
	Backends           uint64             `json:"backends"`             // bit n: backend n gave at least one field
	GPUBusyPercent     Optional[float64]  `json:"gpu_busy_percent"`     // 0 to 100: share of time in which something ran
	MemoryBusyPercent  Optional[float64]  `json:"memory_busy_percent"`  // 0 to 100: share of time in which memory was read or written; not how full it is
	EncoderBusyPercent Optional[float64]  `json:"encoder_busy_percent"` // 0 to 100
	DecoderBusyPercent Optional[float64]  `json:"decoder_busy_percent"` // 0 to 100
	TemperatureCelsius Optional[float64]  `json:"temperature_celsius"`
	HotspotCelsius     Optional[float64]  `json:"hotspot_celsius"`
	MemoryCelsius      Optional[float64]  `json:"memory_celsius"`
	PowerWatts         Optional[float64]  `json:"power_watts"`
	PowerLimitWatts    Optional[float64]  `json:"power_limit_watts"`
	EnergyJoules       Optional[float64]  `json:"energy_joules"` // ever growing since the driver was loaded: take differences
	PCIeRxBytes        Optional[uint64]   `json:"pcie_rx_bytes"` // ever growing: take differences
	PCIeTxBytes        Optional[uint64]   `json:"pcie_tx_bytes"` // ever growing: take differences
	WindowNs           Optional[uint64]   `json:"window_ns"`     // what the percentages average over
	AgeNs              uint64             `json:"age_ns"`        // since the driver was asked
}

func newTelemetry(from *raw.Telemetry) Telemetry {
	return Telemetry{
		Notes:              Notes(from.Notes),
		Backend:            Backend(from.Backend),
		DeviceIndex:        from.DeviceIndex,
		CoreClockMHz:       optional(from.Present, TelemetryHasCoreClock, from.CoreClockMhz),
		MemoryClockMHz:     optional(from.Present, TelemetryHasMemoryClock, from.MemoryClockMhz),
		FanPercent:         optional(from.Present, TelemetryHasFanPercent, from.FanPercent),
		FanRPM:             optional(from.Present, TelemetryHasFanRPM, from.FanRpm),
		PCIeGeneration:     optional(from.Present, TelemetryHasPCIeGeneration, from.PcieGeneration),
		PCIeWidth:          optional(from.Present, TelemetryHasPCIeWidth, from.PcieWidth),
		PState:             optional(from.Present, TelemetryHasPState, from.PState),
		Throttle:           optional(from.Present, TelemetryHasThrottle, Throttle(from.Throttle)),
		Backends:           from.Backends,
		GPUBusyPercent:     optional(from.Present, TelemetryHasGPUBusy, from.GpuBusyPercent),
		MemoryBusyPercent:  optional(from.Present, TelemetryHasMemoryBusy, from.MemoryBusyPercent),
		EncoderBusyPercent: optional(from.Present, TelemetryHasEncoderBusy, from.EncoderBusyPercent),
		DecoderBusyPercent: optional(from.Present, TelemetryHasDecoderBusy, from.DecoderBusyPercent),
		TemperatureCelsius: optional(from.Present, TelemetryHasTemperature, from.TemperatureCelsius),
		HotspotCelsius:     optional(from.Present, TelemetryHasHotspot, from.HotspotCelsius),
		MemoryCelsius:      optional(from.Present, TelemetryHasMemoryTemperature, from.MemoryCelsius),
		PowerWatts:         optional(from.Present, TelemetryHasPower, from.PowerWatts),
		PowerLimitWatts:    optional(from.Present, TelemetryHasPowerLimit, from.PowerLimitWatts),
		EnergyJoules:       optional(from.Present, TelemetryHasEnergy, from.EnergyJoules),
		PCIeRxBytes:        optional(from.Present, TelemetryHasPCIeRx, from.PcieRxBytes),
		PCIeTxBytes:        optional(from.Present, TelemetryHasPCIeTx, from.PcieTxBytes),
		WindowNs:           optional(from.Present, TelemetryHasWindow, from.WindowNs),
		AgeNs:              from.AgeNs,
	}
}
