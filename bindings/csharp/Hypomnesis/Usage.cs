// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>What a process runs on a device.</summary>
[Flags]
public enum UsageKinds : uint
{
    /// <summary>Nothing.</summary>
    None = 0,
    /// <summary>Compute.</summary>
    Compute = Raw.USAGE_COMPUTE,
    /// <summary>Graphics.</summary>
    Graphics = Raw.USAGE_GRAPHICS,
    /// <summary>Encoding or decoding of video.</summary>
    Media = Raw.USAGE_MEDIA,
}

/// <summary>What is known of a process' name.</summary>
public enum NameState : uint
{
    /// <summary>Nothing.</summary>
    Unknown = Raw.NAME_UNKNOWN,
    /// <summary>The name.</summary>
    Resolved = Raw.NAME_RESOLVED,
    /// <summary>The driver still lists the process, the system does not.</summary>
    Exited = Raw.NAME_EXITED,
    /// <summary>The system refuses to tell.</summary>
    Protected = Raw.NAME_PROTECTED,
    /// <summary>It is the kernel itself.</summary>
    Kernel = Raw.NAME_KERNEL,
}

/// <summary>The figures of a <see cref="Usage"/>; a <see cref="Diagnostic.Field"/> counts in them.</summary>
[Flags]
public enum UsageFields : uint
{
    /// <summary>None.</summary>
    None = 0,
    /// <summary><see cref="Usage.UsedBytes"/>.</summary>
    Used = Raw.USAGE_HAS_USED,
    /// <summary><see cref="Usage.ResidentBytes"/>.</summary>
    Resident = Raw.USAGE_HAS_RESIDENT,
    /// <summary><see cref="Usage.CommittedBytes"/>.</summary>
    Committed = Raw.USAGE_HAS_COMMITTED,
    /// <summary><see cref="Usage.AllocatedBytes"/>.</summary>
    Allocated = Raw.USAGE_HAS_ALLOCATED,
    /// <summary><see cref="Usage.SharedBytes"/>.</summary>
    Shared = Raw.USAGE_HAS_SHARED,
    /// <summary><see cref="Usage.PurgeableBytes"/>.</summary>
    Purgeable = Raw.USAGE_HAS_PURGEABLE,
    /// <summary><see cref="Usage.EvictedBytes"/>.</summary>
    Evicted = Raw.USAGE_HAS_EVICTED,
    /// <summary><see cref="Usage.HostPoolBytes"/>.</summary>
    HostPool = Raw.USAGE_HAS_HOST_POOL,
    /// <summary><see cref="Usage.HostResidentBytes"/>.</summary>
    HostResident = Raw.USAGE_HAS_HOST_RESIDENT,
    /// <summary><see cref="Usage.BudgetBytes"/>.</summary>
    Budget = Raw.USAGE_HAS_BUDGET,
    /// <summary><see cref="Usage.BusyNs"/>.</summary>
    BusyNs = Raw.USAGE_HAS_BUSY_NS,
    /// <summary><see cref="Usage.BusyPercent"/> and <see cref="Usage.WindowNs"/>.</summary>
    BusyPercent = Raw.USAGE_HAS_BUSY_PERCENT,
    /// <summary><see cref="Usage.StartUnixNs"/>.</summary>
    StartTime = Raw.USAGE_HAS_START_TIME,
    /// <summary><see cref="Usage.Uid"/>.</summary>
    Uid = Raw.USAGE_HAS_UID,
    /// <summary><see cref="Usage.GpuInstance"/> and <see cref="Usage.ComputeInstance"/>.</summary>
    Instance = Raw.USAGE_HAS_INSTANCE,
    /// <summary><see cref="Usage.Kinds"/>.</summary>
    Kinds = Raw.USAGE_HAS_KINDS,
    /// <summary><see cref="Usage.PeakUsedBytes"/>.</summary>
    PeakUsed = Raw.USAGE_HAS_PEAK_USED,
}

/// <summary>Memory of one process on one device, in bytes: figures of that process only, never the
/// device's. Null: not known.</summary>
public sealed record Usage
{
    /// <summary>Remarks; <see cref="Notes.ForeignPid"/>: <see cref="Pid"/> is not one of the proc tree in
    /// use.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured.</summary>
    public Backend Backend { get; init; }
    /// <summary>The process.</summary>
    public uint Pid { get; init; }
    /// <summary>The device's index.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>What the process runs there.</summary>
    public UsageKinds? Kinds { get; init; }
    /// <summary>What <see cref="UsedBytes"/> counts.</summary>
    public Accounting Accounting { get; init; }
    /// <summary>What is known of the process' name.</summary>
    public NameState NameState { get; init; }
    /// <summary>Effective user id.</summary>
    public uint? Uid { get; init; }
    /// <summary>MIG: the GPU instance.</summary>
    public uint? GpuInstance { get; init; }
    /// <summary>MIG: the compute instance.</summary>
    public uint? ComputeInstance { get; init; }
    /// <summary>When the process began, nanoseconds since 1970; with <see cref="Pid"/> it tells a reused
    /// pid from the old one.</summary>
    public ulong? StartUnixNs { get; init; }
    /// <summary>The headline, by <see cref="Accounting"/>.</summary>
    public ulong? UsedBytes { get; init; }
    /// <summary>What has backing store now.</summary>
    public ulong? ResidentBytes { get; init; }
    /// <summary>What was promised, whether backed or not.</summary>
    public ulong? CommittedBytes { get; init; }
    /// <summary>As the driver accounts allocations.</summary>
    public ulong? AllocatedBytes { get; init; }
    /// <summary>The part of <see cref="UsedBytes"/> that other processes hold as well.</summary>
    public ulong? SharedBytes { get; init; }
    /// <summary>What the driver may drop.</summary>
    public ulong? PurgeableBytes { get; init; }
    /// <summary>Wanted in device memory, and not there now.</summary>
    public ulong? EvictedBytes { get; init; }
    /// <summary>Host RAM mapped for the device (GTT, WDDM shared).</summary>
    public ulong? HostPoolBytes { get; init; }
    /// <summary>RSS: the same in each row of this pid.</summary>
    public ulong? HostResidentBytes { get; init; }
    /// <summary>What a policy lets the process use.</summary>
    public ulong? BudgetBytes { get; init; }
    /// <summary>Nanoseconds of work; ever growing: take differences.</summary>
    public ulong? BusyNs { get; init; }
    /// <summary>0..100: share of time in which it ran there.</summary>
    public double? BusyPercent { get; init; }
    /// <summary>Nanoseconds that <see cref="BusyPercent"/> averages over.</summary>
    public ulong? WindowNs { get; init; }
    /// <summary>Nanoseconds since the driver was asked.</summary>
    public ulong AgeNs { get; init; }
    /// <summary>The most that it has held there: the driver's own account of it (NVIDIA's accounting mode),
    /// never sampled.</summary>
    public ulong? PeakUsedBytes { get; init; }

    /// <summary>Of <see cref="Snapshot.Usages"/>: the process' command name, or null when it is not
    /// known (see <see cref="NameState"/>).</summary>
    public string? ProcessName { get; init; }
    /// <summary>Of <see cref="Snapshot.Usages"/>: its command line, a blank between arguments; of one of
    /// more than 4 KiB the beginning.</summary>
    public string? ProcessCommand { get; init; }
    /// <summary>Of <see cref="Snapshot.Usages"/>: its container, "&lt;runtime&gt;:&lt;id&gt;".</summary>
    public string? ProcessContainer { get; init; }

    internal static Usage From(IntPtr record) => From(record, null, null, null);

    internal static unsafe Usage From(IntPtr record, string? name, string? command, string? container)
    {
        var from = (UsageRecord*)record;
        return new Usage
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            Pid = from->Pid,
            DeviceIndex = from->DeviceIndex,
            Kinds = (UsageKinds?)from->Kinds,
            Accounting = (Accounting)from->Accounting,
            NameState = (NameState)from->NameState,
            Uid = from->Uid,
            GpuInstance = from->GpuInstance,
            ComputeInstance = from->ComputeInstance,
            StartUnixNs = from->StartUnixNs,
            UsedBytes = from->UsedBytes,
            ResidentBytes = from->ResidentBytes,
            CommittedBytes = from->CommittedBytes,
            AllocatedBytes = from->AllocatedBytes,
            SharedBytes = from->SharedBytes,
            PurgeableBytes = from->PurgeableBytes,
            EvictedBytes = from->EvictedBytes,
            HostPoolBytes = from->HostPoolBytes,
            HostResidentBytes = from->HostResidentBytes,
            BudgetBytes = from->BudgetBytes,
            BusyNs = from->BusyNs,
            BusyPercent = from->BusyPercent,
            WindowNs = from->WindowNs,
            AgeNs = from->AgeNs,
            PeakUsedBytes = from->PeakUsedBytes,
            ProcessName = name,
            ProcessCommand = command,
            ProcessContainer = container,
        };
    }
}
