// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>The figures of a <see cref="ProcessMemory"/> that are wanted.</summary>
[Flags]
public enum ProcessMemoryFields : uint
{
    /// <summary>Those that are cheap: resident and virtual.</summary>
    Cheap = 0,
    /// <summary><see cref="ProcessMemory.ResidentBytes"/>.</summary>
    Resident = Raw.PROCESS_MEMORY_HAS_RESIDENT,
    /// <summary><see cref="ProcessMemory.PeakResidentBytes"/>.</summary>
    PeakResident = Raw.PROCESS_MEMORY_HAS_PEAK_RESIDENT,
    /// <summary><see cref="ProcessMemory.VirtualBytes"/>.</summary>
    Virtual = Raw.PROCESS_MEMORY_HAS_VIRTUAL,
    /// <summary><see cref="ProcessMemory.SwapBytes"/>.</summary>
    Swap = Raw.PROCESS_MEMORY_HAS_SWAP,
    /// <summary><see cref="ProcessMemory.ProportionalBytes"/>.</summary>
    Proportional = Raw.PROCESS_MEMORY_HAS_PROPORTIONAL,
    /// <summary><see cref="ProcessMemory.PrivateBytes"/>.</summary>
    Private = Raw.PROCESS_MEMORY_HAS_PRIVATE,
    /// <summary><see cref="ProcessMemory.CommittedBytes"/>.</summary>
    Committed = Raw.PROCESS_MEMORY_HAS_COMMITTED,
    /// <summary><see cref="ProcessMemory.FootprintBytes"/>.</summary>
    Footprint = Raw.PROCESS_MEMORY_HAS_FOOTPRINT,
    /// <summary><see cref="ProcessMemory.PeakFootprintBytes"/>.</summary>
    PeakFootprint = Raw.PROCESS_MEMORY_HAS_PEAK_FOOTPRINT,
    /// <summary><see cref="ProcessMemory.PeakCommittedBytes"/>.</summary>
    PeakCommitted = Raw.PROCESS_MEMORY_HAS_PEAK_COMMITTED,
}

/// <summary>Host RAM of one process, in bytes; null: not known, or not asked for.</summary>
public sealed record ProcessMemory
{
    /// <summary>Remarks; <see cref="Notes.Partial"/>: a field that was asked for is missing.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured.</summary>
    public Backend Backend { get; init; }
    /// <summary>The process.</summary>
    public uint Pid { get; init; }
    /// <summary>RSS: anonymous, file and shared pages.</summary>
    public ulong? ResidentBytes { get; init; }
    /// <summary>Highest RSS so far.</summary>
    public ulong? PeakResidentBytes { get; init; }
    /// <summary>Address space.</summary>
    public ulong? VirtualBytes { get; init; }
    /// <summary>Anonymous pages swapped out.</summary>
    public ulong? SwapBytes { get; init; }
    /// <summary>PSS: shared pages divided by their users.</summary>
    public ulong? ProportionalBytes { get; init; }
    /// <summary>USS: pages that no other process maps.</summary>
    public ulong? PrivateBytes { get; init; }
    /// <summary>Windows: PrivateUsage; null elsewhere.</summary>
    public ulong? CommittedBytes { get; init; }
    /// <summary>macOS: phys_footprint; null elsewhere.</summary>
    public ulong? FootprintBytes { get; init; }
    /// <summary>macOS: highest phys_footprint so far; null elsewhere.</summary>
    public ulong? PeakFootprintBytes { get; init; }
    /// <summary>Windows: PeakPagefileUsage; null elsewhere.</summary>
    public ulong? PeakCommittedBytes { get; init; }

    internal static unsafe ProcessMemory From(IntPtr record)
    {
        var from = (ProcessMemoryRecord*)record;
        return new ProcessMemory
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            Pid = from->Pid,
            ResidentBytes = from->ResidentBytes,
            PeakResidentBytes = from->PeakResidentBytes,
            VirtualBytes = from->VirtualBytes,
            SwapBytes = from->SwapBytes,
            ProportionalBytes = from->ProportionalBytes,
            PrivateBytes = from->PrivateBytes,
            CommittedBytes = from->CommittedBytes,
            FootprintBytes = from->FootprintBytes,
            PeakFootprintBytes = from->PeakFootprintBytes,
            PeakCommittedBytes = from->PeakCommittedBytes,
        };
    }
}
