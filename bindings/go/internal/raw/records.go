// SPDX-License-Identifier: MIT OR Apache-2.0
// Code generated from bindings/abi.json. DO NOT EDIT.

package raw

// Error is hmn_error.
type Error struct {
	StructSize   uint32
	Status       int32
	Notes        uint32
	Backend      uint32
	NativeDomain uint32
	NativeCode   int32
	Message      [256]byte
}

// BackendInfo is hmn_backend_info.
type BackendInfo struct {
	StructSize   uint32
	Present      uint32
	Notes        uint32
	Backend      uint32
	State        uint32
	Status       int32
	NativeDomain uint32
	NativeCode   int32
	Version      [96]byte
	Message      [256]byte
}

// ProcessMemory is hmn_process_memory.
type ProcessMemory struct {
	StructSize         uint32
	Present            uint32
	Notes              uint32
	Backend            uint32
	Pid                uint32
	Reserved0          uint32
	ResidentBytes      uint64
	PeakResidentBytes  uint64
	VirtualBytes       uint64
	SwapBytes          uint64
	ProportionalBytes  uint64
	PrivateBytes       uint64
	CommittedBytes     uint64
	FootprintBytes     uint64
	PeakFootprintBytes uint64
	PeakCommittedBytes uint64
}

// SystemMemory is hmn_system_memory.
type SystemMemory struct {
	StructSize       uint32
	Present          uint32
	Notes            uint32
	Backend          uint32
	TotalBytes       uint64
	AvailableBytes   uint64
	SwapTotalBytes   uint64
	SwapFreeBytes    uint64
	LimitBytes       uint64
	LimitUsedBytes   uint64
	CommitLimitBytes uint64
	CommittedBytes   uint64
	Pressure         uint32
	Reserved0        uint32
	StallPercent     float64
}

// Device is hmn_device.
type Device struct {
	StructSize      uint32
	Present         uint32
	Notes           uint32
	Backend         uint32
	Index           uint32
	Kind            uint32
	State           uint32
	Vendor          uint32
	MemoryKind      uint32
	ParentIndex     uint32
	DriverIndex     uint32
	PciDevice       uint32
	PciSubsystem    uint32
	RenderMinor     uint32
	NumaNode        uint32
	GpuInstance     uint32
	ComputeInstance uint32
	CudaVersion     uint32
	OsId            uint64
	Name            [256]byte
	Uuid            [96]byte
	PciBusId        [32]byte
	DriverVersion   [96]byte
}

// Pool is hmn_pool.
type Pool struct {
	StructSize        uint32
	Present           uint32
	Notes             uint32
	Backend           uint32
	DeviceIndex       uint32
	Kind              uint32
	Accounting        uint32
	IsMain            uint32
	TotalBytes        uint64
	FreeBytes         uint64
	UsedBytes         uint64
	ReservedBytes     uint64
	UsableBytes       uint64
	BudgetBytes       uint64
	UnattributedBytes uint64
	AgeNs             uint64
}

// Telemetry is hmn_telemetry.
type Telemetry struct {
	StructSize         uint32
	Present            uint32
	Notes              uint32
	Backend            uint32
	DeviceIndex        uint32
	CoreClockMhz       uint32
	MemoryClockMhz     uint32
	FanPercent         uint32
	FanRpm             uint32
	PcieGeneration     uint32
	PcieWidth          uint32
	PState             uint32
	Throttle           uint32
	Reserved0          uint32
	Backends           uint64
	GpuBusyPercent     float64
	MemoryBusyPercent  float64
	EncoderBusyPercent float64
	DecoderBusyPercent float64
	TemperatureCelsius float64
	HotspotCelsius     float64
	MemoryCelsius      float64
	PowerWatts         float64
	PowerLimitWatts    float64
	EnergyJoules       float64
	PcieRxBytes        uint64
	PcieTxBytes        uint64
	WindowNs           uint64
	AgeNs              uint64
}

// Metric is hmn_metric.
type Metric struct {
	StructSize  uint32
	Present     uint32
	Notes       uint32
	Backend     uint32
	DeviceIndex uint32
	Pid         uint32
	Id          uint32
	Instance    uint32
	Value       float64
	Count       uint64
	WindowNs    uint64
	AgeNs       uint64
}

// Usage is hmn_usage.
type Usage struct {
	StructSize        uint32
	Present           uint32
	Notes             uint32
	Backend           uint32
	Pid               uint32
	DeviceIndex       uint32
	Kinds             uint32
	Accounting        uint32
	NameState         uint32
	Uid               uint32
	GpuInstance       uint32
	ComputeInstance   uint32
	StartUnixNs       uint64
	UsedBytes         uint64
	ResidentBytes     uint64
	CommittedBytes    uint64
	AllocatedBytes    uint64
	SharedBytes       uint64
	PurgeableBytes    uint64
	EvictedBytes      uint64
	HostPoolBytes     uint64
	HostResidentBytes uint64
	BudgetBytes       uint64
	BusyNs            uint64
	BusyPercent       float64
	WindowNs          uint64
	AgeNs             uint64
	PeakUsedBytes     uint64
}

// SnapshotInfo is hmn_snapshot_info.
type SnapshotInfo struct {
	StructSize             uint32
	Present                uint32
	Notes                  uint32
	Collect                uint32
	DeviceCount            uint32
	PoolCount              uint32
	UsageCount             uint32
	DiagnosticCount        uint32
	UnreadableProcessCount uint32
	MetricCount            uint32
	UnixTimeNs             uint64
	MonotonicNs            uint64
	DurationNs             uint64
}

// Diagnostic is hmn_diagnostic.
type Diagnostic struct {
	StructSize   uint32
	Present      uint32
	Notes        uint32
	Backend      uint32
	Status       int32
	NativeDomain uint32
	NativeCode   int32
	Subject      uint32
	Field        uint32
	DeviceIndex  uint32
	Pid          uint32
	Count        uint32
	DurationNs   uint64
	Message      [256]byte
}

// Delta is hmn_delta.
type Delta struct {
	StructSize   uint32
	Present      uint32
	Notes        uint32
	Backend      uint32
	DeviceIndex  uint32
	Scope        uint32
	Accounting   uint32
	Reserved0    uint32
	MemoryBytes  int64
	DeviceBytes  int64
	ElapsedNs    uint64
	EnergyJoules float64
}

// SamplerInfo is hmn_sampler_info.
type SamplerInfo struct {
	StructSize      uint32
	Present         uint32
	Notes           uint32
	State           uint32
	Pending         uint32
	LastStatus      int32
	TakenCount      uint64
	DroppedCount    uint64
	LateCount       uint64
	FailedCount     uint64
	LastMonotonicNs uint64
}

// Peak is hmn_peak.
type Peak struct {
	StructSize        uint32
	Present           uint32
	Notes             uint32
	Backend           uint32
	DeviceIndex       uint32
	Pid               uint32
	Accounting        uint32
	Reserved0         uint32
	UsedBytes         uint64
	HostPoolBytes     uint64
	HostResidentBytes uint64
	UsedMonotonicNs   uint64
}

// TrackerInfo is hmn_tracker_info.
type TrackerInfo struct {
	StructSize     uint32
	Present        uint32
	Notes          uint32
	DeviceIndex    uint32
	TagCount       uint32
	Reserved0      uint32
	LimitBytes     uint64
	AllocatedBytes uint64
	PeakBytes      uint64
	RefusedCount   uint64
}

// Tag is hmn_tag.
type Tag struct {
	StructSize     uint32
	Present        uint32
	Notes          uint32
	Number         uint32
	AllocatedBytes uint64
	PeakBytes      uint64
	Name           [64]byte
}

// SpillInfo is hmn_spill_info.
type SpillInfo struct {
	StructSize           uint32
	Present              uint32
	Notes                uint32
	Backend              uint32
	DeviceIndex          uint32
	State                uint32
	Rules                uint32
	Status               int32
	ObservationCount     uint64
	SkippedCount         uint64
	EpisodeCount         uint64
	FirstEpisode         uint64
	LimitBytes           uint64
	DedicatedBytes       uint64
	SharedBytes          uint64
	EvictedBytes         uint64
	PeakDedicatedBytes   uint64
	PeakSharedBytes      uint64
	PeakEvictedBytes     uint64
	BaselineSharedBytes  uint64
	BaselineEvictedBytes uint64
	TotalNs              uint64
	LongestNs            uint64
	LongestEpisode       uint64
	FirstLabel           [64]byte
	Message              [256]byte
}

// Episode is hmn_episode.
type Episode struct {
	StructSize       uint32
	Present          uint32
	Notes            uint32
	Rules            uint32
	Number           uint64
	ObservationCount uint64
	PeakSharedBytes  uint64
	PeakEvictedBytes uint64
	StartMonotonicNs uint64
	EndMonotonicNs   uint64
	DurationNs       uint64
	StartLabel       [64]byte
	EndLabel         [64]byte
}
