// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

// Enumerations grow: 0 is "unknown", and a caller treats a number that it does not know as 0.

// Status is the outcome of a call: StatusOK, or why it failed. A newer library may give numbers that are
// not listed here.
type Status int32

const (
	StatusOK          Status = 0   // success
	StatusArgument    Status = -1  // an argument is NULL, empty or malformed
	StatusStructSize  Status = -2  // a record has a size that the library cannot fill; never given in Go
	StatusUnknownFlag Status = -3  // a bit or a byte is set that this library does not know
	StatusRange       Status = -4  // an index past the end, or a number outside what is allowed
	StatusNoMemory    Status = -5  // the host's memory is exhausted
	StatusUnsupported Status = -6  // this system, device or driver has no such value
	StatusNoSource    Status = -7  // no source of this value is here: no library, no driver, no tool
	StatusNoDevice    Status = -8  // no device of that index or key
	StatusNoProcess   Status = -9  // no such process, or it has exited
	StatusPermission  Status = -10 // the system or the driver refused
	StatusTimeout     Status = -11 // the driver did not answer within the deadline
	StatusDeviceLost  Status = -12 // the device was there and is gone: unplugged, fallen off, reset
	StatusBackend     Status = -13 // a driver or tool answered with an error, or with nonsense
	StatusLimit       Status = -14 // a limit was reached
	StatusOverflow    Status = -15 // the result does not fit 64 bits
	StatusForked      Status = -16 // the handle was made by the parent of this process
	StatusBuffer      Status = -17 // a buffer is too small; never given in Go
	StatusEmpty       Status = -18 // it was not asked for, or there is nothing to give
	StatusInternal    Status = -19 // a defect of this library; please report it
	StatusAsleep      Status = -20 // answering would have to wake the device
	StatusState       Status = -21 // the right call at the wrong moment
)

// Backend tells who measured.
type Backend uint32

const (
	BackendNone      Backend = 0
	BackendOS        Backend = 1  // the operating system itself
	BackendNVML      Backend = 2  // NVIDIA's management library
	BackendNVIDIASMI Backend = 3  // NVIDIA's command, when NVML cannot serve
	BackendAMDGPU    Backend = 4  // AMD's kernel driver: sysfs and fdinfo
	BackendKFD       Backend = 5  // AMD's compute driver: what compute processes use
	BackendROCmSMI   Backend = 6  // AMD's rocm-smi command, when the kernel does not tell
	BackendI915      Backend = 7  // Intel's older kernel driver
	BackendXe        Backend = 8  // Intel's newer kernel driver
	BackendDRM       Backend = 9  // any kernel DRM driver: sysfs, and the fdinfo files of its clients
	BackendDXGI      Backend = 10 // Windows: the adapters, and what the caller may use of them
	BackendPDH       Backend = 11 // Windows: the performance counters of adapters and processes
	BackendMetal     Backend = 12 // macOS: Metal, and the system's registry of GPUs
	BackendMacmon    Backend = 13 // macOS: the macmon command
	BackendTegra     Backend = 14 // NVIDIA's SoCs (Jetson): sysfs
	BackendDmem      Backend = 15 // the kernel's control group of device memory
	BackendSimulated Backend = 16 // a machine described by a file: nothing was measured
	BackendAMDSMI    Backend = 17 // AMD's amd-smi command, when the kernel does not tell
)

// Notes are remarks on a result; each bit has one meaning in every record.
type Notes uint32

const (
	NoteStale      Notes = 1 << 0 // the last known value, AgeNs old: the driver did not answer
	NoteLowerBound Notes = 1 << 1 // some of it could not be seen
	NoteEstimated  Notes = 1 << 2 // derived from other values, not measured
	NoteTruncated  Notes = 1 << 3 // a text was cut
	NoteMixed      Notes = 1 << 4 // several backends; Backend is the first
	NoteForeignPID Notes = 1 << 5 // PID belongs to another PID namespace
	NotePartial    Notes = 1 << 6 // something asked for is missing: see the diagnostics
	NoteTrace      Notes = 1 << 7 // a driver call, recorded by ContextTrace
)

// Scope tells whose figure a number is.
type Scope uint32

const (
	ScopeNone    Scope = 0
	ScopeProcess Scope = 1
	ScopeDevice  Scope = 2
)

// Accounting tells what a number of bytes counts.
type Accounting uint32

const (
	AccountNone      Accounting = 0
	AccountResident  Accounting = 1 // has backing store now
	AccountCommitted Accounting = 2 // promised, whether backed or not
	AccountAllocated Accounting = 3 // as the driver accounts allocations (NVML)
)

// NativeDomain tells whose number a native code is.
type NativeDomain uint32

const (
	NativeNone     NativeDomain = 0
	NativeErrno    NativeDomain = 1
	NativeWin32    NativeDomain = 2 // GetLastError
	NativeHRESULT  NativeDomain = 3 // HRESULT
	NativeNTSTATUS NativeDomain = 4 // NTSTATUS
	NativePDH      NativeDomain = 5 // PDH_STATUS
	NativeKern     NativeDomain = 6 // kern_return_t
	NativeNVML     NativeDomain = 7 // nvmlReturn_t
	NativeExit     NativeDomain = 9 // exit code of a helper program; 128 + n: killed by signal n
)

// Vendor is a PCI vendor id.
type Vendor uint32

const (
	VendorUnknown  Vendor = 0
	VendorAMD      Vendor = 0x1002
	VendorApple    Vendor = 0x106b
	VendorNVIDIA   Vendor = 0x10de
	VendorQualcomm Vendor = 0x5143
	VendorIntel    Vendor = 0x8086
)

// Feature is something that a library may have; see HasFeature.
type Feature uint32

const (
	FeatureSubprocess Feature = 1    // code that runs helper programs
	FeatureSimulation Feature = 2    // PathSimulation works
	FeatureBackend    Feature = 1000 // this + n: backend n is compiled in
)

// ContextFlags say how a context works.
type ContextFlags uint32

const (
	ContextNoSubprocess ContextFlags = 1 << 0 // never run a helper program (nvidia-smi)
	ContextWakeDevices  ContextFlags = 1 << 1 // a sleeping GPU may be woken to answer
	ContextNoThreads    ContextFlags = 1 << 2 // start none: a driver may then block the caller
	ContextEnvironment  ContextFlags = 1 << 3 // read HMN_* variables when it is made (never when set-user-id)
	ContextTrace        ContextFlags = 1 << 4 // each driver call becomes a diagnostic of the snapshot
	ContextRecord       ContextFlags = 1 << 5 // keep what the backends read: Context.Recording
)

// Path is a place to read from instead of the usual one; see Context.SetPath.
type Path uint32

const (
	PathProc       Path = 1  // the proc tree, "/proc" [HMN_PROC]
	PathSys        Path = 2  // the sysfs tree, "/sys" [HMN_SYS]
	PathNVML       Path = 3  // the NVML library [HMN_NVML]
	PathNVIDIASMI  Path = 4  // the nvidia-smi program [HMN_NVIDIA_SMI]
	PathROCmSMI    Path = 5  // the rocm-smi program [HMN_ROCM_SMI]
	PathAMDSMI     Path = 9  // the amd-smi program [HMN_AMD_SMI]
	PathMacmon     Path = 6  // the macmon program [HMN_MACMON]
	PathSimulation Path = 7  // a machine file: it replaces every other source [HMN_SIMULATION]
	PathCgroup     Path = 8  // the cgroup mount, found in mountinfo [HMN_CGROUP]
	PathDev        Path = 10 // the device nodes, "/dev" for the usual sysfs tree [HMN_DEV]
)

// State tells what a backend or a device is doing.
type State uint32

const (
	StateUnknown    State = 0 // not tried yet
	StateReady      State = 1 // answers
	StateAsleep     State = 2 // runtime suspended; only identity and totals are known
	StateLost       State = 3 // was here and is gone
	StateUnreadable State = 4 // here, and answers with errors
	StateHung       State = 5 // a driver call has not returned
	StateAbsent     State = 6 // not on this machine
	StateOff        State = 7 // switched off by the context or not compiled in
)

// Kind tells what sort of device it is.
type Kind uint32

const (
	KindUnknown    Kind = 0
	KindDiscrete   Kind = 1
	KindIntegrated Kind = 2
	KindPartition  Kind = 3 // a MIG instance: a device of its own, with ParentIndex
	KindVirtual    Kind = 4
)

// MemoryKind tells where a device has its memory.
type MemoryKind uint32

const (
	MemoryKindUnknown   MemoryKind = 0
	MemoryKindDedicated MemoryKind = 1 // memory of its own
	MemoryKindUnified   MemoryKind = 2 // it allocates from the host's RAM (GB10, Jetson, Apple)
	MemoryKindCoherent  MemoryKind = 3 // memory of its own that is also a NUMA node of the host (GH200)
)

// PoolKind tells pools of a device apart; there is one of each at most.
type PoolKind uint32

const (
	PoolMain        PoolKind = 0 // asked for: the pool that allocations come from
	PoolVRAM        PoolKind = 1 // the device's own memory
	PoolVRAMVisible PoolKind = 2 // the part of it that the host can address
	PoolHost        PoolKind = 3 // host RAM mapped for the device (GTT, WDDM shared)
	PoolUnified     PoolKind = 4 // host RAM that the device allocates from as its own
	PoolStolen      PoolKind = 5 // host RAM that firmware set aside
)

// Throttle is a set of reasons why clocks are held down.
type Throttle uint32

const (
	ThrottleIdle     Throttle = 1 << 0
	ThrottlePower    Throttle = 1 << 1
	ThrottleThermal  Throttle = 1 << 2
	ThrottleHardware Throttle = 1 << 3
	ThrottleSetting  Throttle = 1 << 4
	ThrottleOther    Throttle = 1 << 5
)

// UsageKinds is the set of what a process runs on a device.
type UsageKinds uint32

const (
	UsageCompute  UsageKinds = 1 << 0
	UsageGraphics UsageKinds = 1 << 1
	UsageMedia    UsageKinds = 1 << 2
)

// NameState tells what is known of a process' name.
type NameState uint32

const (
	NameUnknown   NameState = 0
	NameResolved  NameState = 1
	NameExited    NameState = 2 // the driver still lists it, the system does not
	NameProtected NameState = 3 // the system refuses to tell
	NameKernel    NameState = 4 // the kernel itself
)

// Pressure tells how short of memory the system itself says that it is.
type Pressure uint32

const (
	PressureUnknown  Pressure = 0
	PressureNormal   Pressure = 1
	PressureWarning  Pressure = 2 // programs should give memory back
	PressureCritical Pressure = 3 // it ends programs next; never said by Windows
)

// MetricID tells which number of a device a Metric is.
type MetricID uint32

const (
	MetricUnknown             MetricID = 0
	MetricEngineBusyNs        MetricID = 1  // count, ns, ever growing; instance: Engine
	MetricEnginePercent       MetricID = 2  // 0..100 of window_ns; instance: Engine
	MetricEngineCapacity      MetricID = 3  // count: how many there are; instance: Engine
	MetricTemperature         MetricID = 20 // Celsius; instance: Sensor
	MetricTemperatureLimit    MetricID = 21 // Celsius: where the device slows down; Sensor
	MetricFanRPM              MetricID = 22 // turns a minute; instance: fan, from 0
	MetricFanPercent          MetricID = 23 // of the highest speed, may pass 100; fan, from 0
	MetricPowerWatts          MetricID = 24 // W; instance: PowerReading
	MetricEnergyJoules        MetricID = 25 // J, ever growing: take differences; PowerReading
	MetricClockMHz            MetricID = 26 // MHz; instance: Clock
	MetricClockLimitMHz       MetricID = 27 // MHz: highest; instance: Clock
	MetricVoltage             MetricID = 28 // V; instance: Rail
	MetricTemperatureShutdown MetricID = 29 // Celsius: where it switches itself off; Sensor
	MetricPowerLimitWatts     MetricID = 30 // W; instance: PowerLimit
	MetricECCCorrected        MetricID = 40 // count of memory errors; instance: Era
	MetricECCUncorrected      MetricID = 41 // count of memory errors; instance: Era
	MetricRowsRemapped        MetricID = 42 // count; instance: Remapping
	MetricLastFault           MetricID = 43 // count: the driver's own number of it (NVIDIA: Xid)
	MetricThrottleNs          MetricID = 44 // count, ns held back, ever growing; Throttle
	MetricPCIeRxBytes         MetricID = 60 // count, ever growing: received by the device
	MetricPCIeTxBytes         MetricID = 61 // count, ever growing: sent by the device
	MetricPCIeReplays         MetricID = 62 // count, ever growing: packets sent again
	MetricLinkRxBytes         MetricID = 63 // count, ever growing; link to other devices, from 0
	MetricLinkTxBytes         MetricID = 64 // count, ever growing; link to other devices, from 0
	MetricGroupVRAMBytes      MetricID = 80 // count: what a control group's processes hold; Metric.Group names it
	MetricGroupVRAMLimitBytes MetricID = 81 // count: the most that they may hold
)

// Engine is the instance of engine metrics.
type Engine uint32

const (
	EngineUnknown  Engine = 0
	EngineGraphics Engine = 1
	EngineCompute  Engine = 2
	EngineCopy     Engine = 3
	EngineDecode   Engine = 4
	EngineEncode   Engine = 5
	EngineVideo    Engine = 6
	EngineOther    Engine = 7
	EngineMemory   Engine = 8
)

// Sensor is the instance of temperatures.
type Sensor uint32

const (
	SensorUnknown   Sensor = 0
	SensorCore      Sensor = 1
	SensorHotspot   Sensor = 2
	SensorMemory    Sensor = 3
	SensorPackage   Sensor = 4
	SensorBoard     Sensor = 5
	SensorRegulator Sensor = 6
)

// PowerReading is the instance of power and energy.
type PowerReading uint32

const (
	PowerUnknown PowerReading = 0
	PowerAverage PowerReading = 1
	PowerInstant PowerReading = 2
	PowerPackage PowerReading = 3
	PowerMemory  PowerReading = 4
	PowerBoard   PowerReading = 5
)

// PowerLimit is the instance of power limits.
type PowerLimit uint32

const (
	PowerLimitUnknown PowerLimit = 0
	PowerLimitCurrent PowerLimit = 1
	PowerLimitDefault PowerLimit = 2
	PowerLimitMin     PowerLimit = 3
	PowerLimitMax     PowerLimit = 4
)

// Clock is the instance of clocks.
type Clock uint32

const (
	ClockUnknown   Clock = 0
	ClockCore      Clock = 1
	ClockMemory    Clock = 2
	ClockSM        Clock = 3
	ClockVideo     Clock = 4
	ClockMedia     Clock = 5
	ClockSoC       Clock = 6
	ClockFabric    Clock = 7
	ClockRequested Clock = 8
)

// Rail is the instance of voltages.
type Rail uint32

const (
	RailUnknown Rail = 0
	RailCore    Rail = 1
	RailSoC     Rail = 2
	RailMemory  Rail = 3
	RailBoard   Rail = 4
)

// Era is the instance of memory errors: what they are counted over.
type Era uint32

const (
	EraUnknown   Era = 0
	EraSinceLoad Era = 1
	EraLifetime  Era = 2
)

// Remapping is the instance of remapped rows of memory.
type Remapping uint32

const (
	RemappedUnknown     Remapping = 0
	RemappedCorrected   Remapping = 1
	RemappedUncorrected Remapping = 2
	RemappedPending     Remapping = 3
	RemappedFailed      Remapping = 4
)

// Collect is a set of things that a snapshot can hold.
type Collect uint32

const (
	CollectMemory    Collect = 1 << 0 // the caller's host memory: resident and virtual
	CollectSystem    Collect = 1 << 1 // the host's memory
	CollectDevices   Collect = 1 << 2 // who the devices are (implied by all of the next)
	CollectPools     Collect = 1 << 3 // their memory
	CollectSelf      Collect = 1 << 4 // what the caller uses on each
	CollectProcesses Collect = 1 << 5 // what every process uses on each
	CollectTelemetry Collect = 1 << 6 // load, temperature, power
	CollectMetrics   Collect = 1 << 7 // each single number that the sources tell
)

// SnapshotFlags narrow a snapshot.
type SnapshotFlags uint32

const (
	SnapshotOneDevice  SnapshotFlags = 1 << 0 // DeviceIndex says which
	SnapshotOneProcess SnapshotFlags = 1 << 1 // PID says which: keeps the usage rows of that pid alone
	SnapshotSlow       SnapshotFlags = 1 << 2 // also metrics that take more than a few milliseconds
)

// Format tells what a line about a device says of it.
type Format uint32

const (
	FormatFree  Format = 1
	FormatTotal Format = 2
	FormatUsed  Format = 3
)

// SamplerFlags are a set of ways in which a sampler works.
type SamplerFlags uint32

const (
	SamplerPeaksOnly SamplerFlags = 1 << 0 // keep no snapshots: latest figures and peaks alone
)

// SamplerState tells where a sampler is in its life, which has one way.
type SamplerState uint32

const (
	SamplerIdle    SamplerState = 1
	SamplerRunning SamplerState = 2
	SamplerStopped SamplerState = 3
)

// Dtype tells what a number is stored as.
type Dtype uint32

const (
	DtypeUnknown Dtype = 0
	DtypeU8      Dtype = 1
	DtypeI8      Dtype = 2
	DtypeU16     Dtype = 3
	DtypeI16     Dtype = 4
	DtypeU32     Dtype = 5
	DtypeI32     Dtype = 6
	DtypeU64     Dtype = 7
	DtypeI64     Dtype = 8
	DtypeF16     Dtype = 9
	DtypeBF16    Dtype = 10
	DtypeF32     Dtype = 11
	DtypeF64     Dtype = 12
	DtypeF8E4M3  Dtype = 13
	DtypeF8E5M2  Dtype = 14
	DtypeF8E8M0  Dtype = 15
	DtypeF6E2M3  Dtype = 16
	DtypeF6E3M2  Dtype = 17
	DtypeF4      Dtype = 18
	DtypeI4      Dtype = 19
	DtypeU4      Dtype = 20
	DtypeBool    Dtype = 21
)

// AttentionFlags are a set of ways in which attention works.
type AttentionFlags uint32

const (
	AttentionFused AttentionFlags = 1 << 0 // scores are never kept whole (flash attention)
)

// CacheKind tells what layers keep of the tokens before.
type CacheKind uint32

const (
	CacheFull   CacheKind = 0 // keys and values of each token: MHA, GQA and MQA
	CacheWindow CacheKind = 1 // of the last tokens, and of the first ones as sinks
	CacheLatent CacheKind = 2 // one vector for each token: MLA
	CacheState  CacheKind = 3 // one state, however long the sequence: Mamba and other SSMs
)

// ProcessMemoryFields is a set of fields of ProcessMemory: which are wanted, or which are missing.
type ProcessMemoryFields uint32

const (
	ProcessMemoryHasResident      ProcessMemoryFields = 1 << 0
	ProcessMemoryHasPeakResident  ProcessMemoryFields = 1 << 1
	ProcessMemoryHasVirtual       ProcessMemoryFields = 1 << 2
	ProcessMemoryHasSwap          ProcessMemoryFields = 1 << 3
	ProcessMemoryHasProportional  ProcessMemoryFields = 1 << 4
	ProcessMemoryHasPrivate       ProcessMemoryFields = 1 << 5
	ProcessMemoryHasCommitted     ProcessMemoryFields = 1 << 6
	ProcessMemoryHasFootprint     ProcessMemoryFields = 1 << 7
	ProcessMemoryHasPeakFootprint ProcessMemoryFields = 1 << 8
	ProcessMemoryHasPeakCommitted ProcessMemoryFields = 1 << 9
)

// SystemMemoryFields is a set of fields of SystemMemory.
type SystemMemoryFields uint32

const (
	SystemMemoryHasTotal       SystemMemoryFields = 1 << 0
	SystemMemoryHasAvailable   SystemMemoryFields = 1 << 1
	SystemMemoryHasSwapTotal   SystemMemoryFields = 1 << 2
	SystemMemoryHasSwapFree    SystemMemoryFields = 1 << 3
	SystemMemoryHasLimit       SystemMemoryFields = 1 << 4
	SystemMemoryHasLimitUsed   SystemMemoryFields = 1 << 5
	SystemMemoryHasCommitLimit SystemMemoryFields = 1 << 6
	SystemMemoryHasCommitted   SystemMemoryFields = 1 << 7
	SystemMemoryHasPressure    SystemMemoryFields = 1 << 8
	SystemMemoryHasStall       SystemMemoryFields = 1 << 9
)

// DeviceFields is a set of fields of Device.
type DeviceFields uint32

const (
	DeviceHasName         DeviceFields = 1 << 0
	DeviceHasUUID         DeviceFields = 1 << 1
	DeviceHasPCI          DeviceFields = 1 << 2
	DeviceHasDriver       DeviceFields = 1 << 3
	DeviceHasParent       DeviceFields = 1 << 4
	DeviceHasPCIDevice    DeviceFields = 1 << 5
	DeviceHasPCISubsystem DeviceFields = 1 << 6
	DeviceHasRenderMinor  DeviceFields = 1 << 7
	DeviceHasNUMANode     DeviceFields = 1 << 8
	DeviceHasInstance     DeviceFields = 1 << 9
	DeviceHasDriverIndex  DeviceFields = 1 << 10
	DeviceHasOSID         DeviceFields = 1 << 11
	DeviceHasCUDAVersion  DeviceFields = 1 << 12
)

// PoolFields is a set of fields of Pool.
type PoolFields uint32

const (
	PoolHasTotal        PoolFields = 1 << 0
	PoolHasFree         PoolFields = 1 << 1
	PoolHasUsed         PoolFields = 1 << 2
	PoolHasReserved     PoolFields = 1 << 3
	PoolHasUsable       PoolFields = 1 << 4
	PoolHasBudget       PoolFields = 1 << 5
	PoolHasUnattributed PoolFields = 1 << 6
)

// TelemetryFields is a set of fields of Telemetry.
type TelemetryFields uint32

const (
	TelemetryHasGPUBusy           TelemetryFields = 1 << 0
	TelemetryHasMemoryBusy        TelemetryFields = 1 << 1
	TelemetryHasEncoderBusy       TelemetryFields = 1 << 2
	TelemetryHasDecoderBusy       TelemetryFields = 1 << 3
	TelemetryHasTemperature       TelemetryFields = 1 << 4
	TelemetryHasHotspot           TelemetryFields = 1 << 5
	TelemetryHasMemoryTemperature TelemetryFields = 1 << 6
	TelemetryHasPower             TelemetryFields = 1 << 7
	TelemetryHasPowerLimit        TelemetryFields = 1 << 8
	TelemetryHasEnergy            TelemetryFields = 1 << 9
	TelemetryHasCoreClock         TelemetryFields = 1 << 10
	TelemetryHasMemoryClock       TelemetryFields = 1 << 11
	TelemetryHasFanPercent        TelemetryFields = 1 << 12
	TelemetryHasFanRPM            TelemetryFields = 1 << 13
	TelemetryHasPCIeGeneration    TelemetryFields = 1 << 14
	TelemetryHasPCIeWidth         TelemetryFields = 1 << 15
	TelemetryHasPCIeRx            TelemetryFields = 1 << 16
	TelemetryHasPCIeTx            TelemetryFields = 1 << 17
	TelemetryHasThrottle          TelemetryFields = 1 << 18
	TelemetryHasPState            TelemetryFields = 1 << 19
	TelemetryHasWindow            TelemetryFields = 1 << 20
)

// MetricFields is a set of fields of Metric.
type MetricFields uint32

const (
	MetricHasPID    MetricFields = 1 << 0
	MetricHasValue  MetricFields = 1 << 1
	MetricHasCount  MetricFields = 1 << 2
	MetricHasWindow MetricFields = 1 << 3
)

// UsageFields is a set of fields of Usage.
type UsageFields uint32

const (
	UsageHasUsed         UsageFields = 1 << 0
	UsageHasResident     UsageFields = 1 << 1
	UsageHasCommitted    UsageFields = 1 << 2
	UsageHasAllocated    UsageFields = 1 << 3
	UsageHasShared       UsageFields = 1 << 4
	UsageHasPurgeable    UsageFields = 1 << 5
	UsageHasEvicted      UsageFields = 1 << 6
	UsageHasHostPool     UsageFields = 1 << 7
	UsageHasHostResident UsageFields = 1 << 8
	UsageHasBudget       UsageFields = 1 << 9
	UsageHasBusyNs       UsageFields = 1 << 10
	UsageHasBusyPercent  UsageFields = 1 << 11
	UsageHasStartTime    UsageFields = 1 << 12
	UsageHasUID          UsageFields = 1 << 13
	UsageHasInstance     UsageFields = 1 << 14
	UsageHasKinds        UsageFields = 1 << 15
	UsageHasPeakUsed     UsageFields = 1 << 16
)

// SpillStates is a set: where a spill detector stands.
type SpillStates uint32

const (
	SpillMeasurable SpillStates = 1 << 0 // at least one observation had its figures
	SpillNow        SpillStates = 1 << 1 // the last one spilled
	SpillEver       SpillStates = 1 << 2 // one did
)

// SpillRules is a set: which rule held.
type SpillRules uint32

const (
	SpillByShared  SpillRules = 1 << 0
	SpillByEvicted SpillRules = 1 << 1
)

// Presence bits that only reading a record needs.
const (
	backendInfoHasVersion uint32 = 1 << 0

	diagnosticHasDevice   uint32 = 1 << 0
	diagnosticHasPID      uint32 = 1 << 1
	diagnosticHasField    uint32 = 1 << 2
	diagnosticHasDuration uint32 = 1 << 3

	deltaHasMemory uint32 = 1 << 0
	deltaHasDevice uint32 = 1 << 1
	deltaHasEnergy uint32 = 1 << 2

	samplerInfoHasLast uint32 = 1 << 0

	trackerInfoHasLimit  uint32 = 1 << 0
	trackerInfoHasDevice uint32 = 1 << 1

	peakHasUsed         uint32 = 1 << 0
	peakHasHostPool     uint32 = 1 << 1
	peakHasHostResident uint32 = 1 << 2

	spillSampleHasLimit   uint32 = 1 << 0
	spillSampleHasEvicted uint32 = 1 << 1

	spillInfoHasLimit       uint32 = 1 << 0
	spillInfoHasObserved    uint32 = 1 << 1
	spillInfoHasEvicted     uint32 = 1 << 2
	spillInfoHasPeakEvicted uint32 = 1 << 3
	spillInfoHasEpisode     uint32 = 1 << 4

	episodeHasEnd         uint32 = 1 << 0
	episodeHasPeakEvicted uint32 = 1 << 1
)

// Texts of a usage: HMN_TEXT_PROCESS_*.
const (
	textProcessName      = 1
	textProcessCommand   = 3
	textProcessContainer = 5
	textMetricGroup      = 64
)
