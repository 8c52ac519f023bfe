// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Who measured. Treat a number that you do not know as <see cref="None"/>.</summary>
public enum Backend : uint
{
    /// <summary>Nobody, or not known.</summary>
    None = Raw.BACKEND_NONE,
    /// <summary>The operating system itself.</summary>
    Os = Raw.BACKEND_OS,
    /// <summary>NVIDIA's management library.</summary>
    Nvml = Raw.BACKEND_NVML,
    /// <summary>NVIDIA's command, when NVML cannot serve.</summary>
    NvidiaSmi = Raw.BACKEND_NVIDIA_SMI,
    /// <summary>AMD's kernel driver: sysfs and fdinfo.</summary>
    Amdgpu = Raw.BACKEND_AMDGPU,
    /// <summary>AMD's compute driver: what compute processes use.</summary>
    Kfd = Raw.BACKEND_KFD,
    /// <summary>AMD's rocm-smi command, when the kernel does not tell.</summary>
    RocmSmi = Raw.BACKEND_ROCM_SMI,
    /// <summary>Intel's older kernel driver.</summary>
    I915 = Raw.BACKEND_I915,
    /// <summary>Intel's newer kernel driver.</summary>
    Xe = Raw.BACKEND_XE,
    /// <summary>Any kernel DRM driver: sysfs, and the fdinfo files of its clients.</summary>
    Drm = Raw.BACKEND_DRM,
    /// <summary>Windows: the adapters, and what the caller may use of them.</summary>
    Dxgi = Raw.BACKEND_DXGI,
    /// <summary>Windows: the performance counters of adapters and processes.</summary>
    Pdh = Raw.BACKEND_PDH,
    /// <summary>macOS: Metal, and the system's registry of GPUs.</summary>
    Metal = Raw.BACKEND_METAL,
    /// <summary>macOS: the macmon command.</summary>
    Macmon = Raw.BACKEND_MACMON,
    /// <summary>NVIDIA's SoCs (Jetson): sysfs.</summary>
    Tegra = Raw.BACKEND_TEGRA,
    /// <summary>The kernel's control group of device memory.</summary>
    Dmem = Raw.BACKEND_DMEM,
    /// <summary>A machine described by a file: nothing was measured.</summary>
    Simulated = Raw.BACKEND_SIMULATED,
    /// <summary>AMD's amd-smi command, when the kernel does not tell.</summary>
    AmdSmi = Raw.BACKEND_AMD_SMI,
}

/// <summary>Remarks on a result.</summary>
[Flags]
public enum Notes : uint
{
    /// <summary>No remark.</summary>
    None = 0,
    /// <summary>The last known value: the driver did not answer.</summary>
    Stale = Raw.NOTE_STALE,
    /// <summary>Some of it could not be seen.</summary>
    LowerBound = Raw.NOTE_LOWER_BOUND,
    /// <summary>Derived from other values, not measured.</summary>
    Estimated = Raw.NOTE_ESTIMATED,
    /// <summary>A text was cut.</summary>
    Truncated = Raw.NOTE_TRUNCATED,
    /// <summary>Several backends; the one named is that of the first.</summary>
    Mixed = Raw.NOTE_MIXED,
    /// <summary>The process id belongs to another PID namespace.</summary>
    ForeignPid = Raw.NOTE_FOREIGN_PID,
    /// <summary>Something asked for is missing: see the diagnostics.</summary>
    Partial = Raw.NOTE_PARTIAL,
    /// <summary>Of a diagnostic: a driver call, recorded by <see cref="ContextFlags.Trace"/>.</summary>
    Trace = Raw.NOTE_TRACE,
}

/// <summary>Whose figure it is.</summary>
public enum Scope : uint
{
    /// <summary>Not known.</summary>
    None = Raw.SCOPE_NONE,
    /// <summary>The process'.</summary>
    Process = Raw.SCOPE_PROCESS,
    /// <summary>The whole device's.</summary>
    Device = Raw.SCOPE_DEVICE,
}

/// <summary>What a number of bytes counts.</summary>
public enum Accounting : uint
{
    /// <summary>Not known.</summary>
    None = Raw.ACCOUNT_NONE,
    /// <summary>What has backing store now.</summary>
    Resident = Raw.ACCOUNT_RESIDENT,
    /// <summary>What was promised, whether backed or not.</summary>
    Committed = Raw.ACCOUNT_COMMITTED,
    /// <summary>As the driver accounts allocations (NVML).</summary>
    Allocated = Raw.ACCOUNT_ALLOCATED,
}

/// <summary>Whose number a native code is.</summary>
public enum NativeDomain : uint
{
    /// <summary>Nobody's: there is no native code.</summary>
    None = Raw.NATIVE_NONE,
    /// <summary>The operating system's errno.</summary>
    Errno = Raw.NATIVE_ERRNO,
    /// <summary>Windows: GetLastError.</summary>
    Win32 = Raw.NATIVE_WIN32,
    /// <summary>Windows: an HRESULT.</summary>
    HResult = Raw.NATIVE_HRESULT,
    /// <summary>Windows: an NTSTATUS.</summary>
    NtStatus = Raw.NATIVE_NTSTATUS,
    /// <summary>Windows: a PDH_STATUS.</summary>
    Pdh = Raw.NATIVE_PDH,
    /// <summary>macOS: a kern_return_t.</summary>
    Kern = Raw.NATIVE_KERN,
    /// <summary>NVML's nvmlReturn_t.</summary>
    Nvml = Raw.NATIVE_NVML,
    /// <summary>The exit code of a helper program; 128 + n: killed by signal n.</summary>
    Exit = Raw.NATIVE_EXIT,
}

/// <summary>What a backend or a device is doing.</summary>
public enum State : uint
{
    /// <summary>Not tried yet.</summary>
    Unknown = Raw.STATE_UNKNOWN,
    /// <summary>Answers.</summary>
    Ready = Raw.STATE_READY,
    /// <summary>Runtime suspended; only identity and totals are known.</summary>
    Asleep = Raw.STATE_ASLEEP,
    /// <summary>Was here and is gone.</summary>
    Lost = Raw.STATE_LOST,
    /// <summary>Here, and answers with errors.</summary>
    Unreadable = Raw.STATE_UNREADABLE,
    /// <summary>A driver call has not returned.</summary>
    Hung = Raw.STATE_HUNG,
    /// <summary>Not on this machine.</summary>
    Absent = Raw.STATE_ABSENT,
    /// <summary>Switched off by the context or not compiled in.</summary>
    Off = Raw.STATE_OFF,
}
