// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>How a context works.</summary>
[Flags]
public enum ContextFlags : uint
{
    /// <summary>The defaults.</summary>
    None = 0,
    /// <summary>Never run a helper program (nvidia-smi).</summary>
    NoSubprocess = Raw.CONTEXT_NO_SUBPROCESS,
    /// <summary>A sleeping GPU may be woken to answer.</summary>
    WakeDevices = Raw.CONTEXT_WAKE_DEVICES,
    /// <summary>Start no threads: a driver may then block the caller, and a deadline can only be kept
    /// between driver calls.</summary>
    NoThreads = Raw.CONTEXT_NO_THREADS,
    /// <summary>Read HMN_* variables of the environment now (never when set-user-id).</summary>
    Environment = Raw.CONTEXT_ENVIRONMENT,
    /// <summary>Each driver call becomes a diagnostic of the snapshot.</summary>
    Trace = Raw.CONTEXT_TRACE,
    /// <summary>Keep what the backends read: <see cref="Context.GetRecording"/>.</summary>
    Record = Raw.CONTEXT_RECORD,
}

/// <summary>Places to read from instead of the usual ones. With <see cref="ContextFlags.Environment"/>
/// the variable in brackets does the same.</summary>
public enum SourcePath : uint
{
    /// <summary>The proc tree, default "/proc" [HMN_PROC].</summary>
    Proc = Raw.PATH_PROC,
    /// <summary>The sysfs tree, default "/sys" [HMN_SYS].</summary>
    Sys = Raw.PATH_SYS,
    /// <summary>The NVML library, by absolute path [HMN_NVML].</summary>
    Nvml = Raw.PATH_NVML,
    /// <summary>The nvidia-smi program, by absolute path [HMN_NVIDIA_SMI].</summary>
    NvidiaSmi = Raw.PATH_NVIDIA_SMI,
    /// <summary>The rocm-smi program, by absolute path [HMN_ROCM_SMI].</summary>
    RocmSmi = Raw.PATH_ROCM_SMI,
    /// <summary>The macmon program, by absolute path [HMN_MACMON].</summary>
    Macmon = Raw.PATH_MACMON,
    /// <summary>A machine file: it replaces every other source [HMN_SIMULATION].</summary>
    Simulation = Raw.PATH_SIMULATION,
    /// <summary>The cgroup mount, default: found in mountinfo [HMN_CGROUP].</summary>
    Cgroup = Raw.PATH_CGROUP,
    /// <summary>The amd-smi program, by absolute path [HMN_AMD_SMI].</summary>
    AmdSmi = Raw.PATH_AMD_SMI,
    /// <summary>The device nodes, default "/dev" for the usual sysfs tree, none for another [HMN_DEV].</summary>
    Dev = Raw.PATH_DEV,
}

/// <summary>What a <see cref="Context"/> is made with; 0 is the default everywhere.</summary>
public sealed record ContextOptions
{
    /// <summary>How it works.</summary>
    public ContextFlags Flags { get; init; }
    /// <summary>Milliseconds that one call may wait for drivers at the longest; 0 = 1000.</summary>
    public uint DeadlineMs { get; init; }
    /// <summary>Milliseconds that a value given instead of <see cref="Status.Timeout"/> may be old;
    /// 0 = 5000.</summary>
    public uint StaleMs { get; init; }
    /// <summary>Longest wait, in milliseconds, for a vendor library to open; 0 = 10000.</summary>
    public uint OpenDeadlineMs { get; init; }
    /// <summary>Readings this young, in milliseconds, share one driver call; 0 = none do.</summary>
    public uint MaxAgeMs { get; init; }
    /// <summary>A vendor library whose GPU may sleep is shut down this many milliseconds after the last
    /// reading; 0 = 2000.</summary>
    public uint IdleCloseMs { get; init; }
    /// <summary>All processes are looked through for GPU clients at least this often, in milliseconds,
    /// the known clients at each reading; 0 = 2000.</summary>
    public uint RescanMs { get; init; }
    /// <summary>Bit n disables backend n.</summary>
    public ulong BackendsOff { get; init; }
}
