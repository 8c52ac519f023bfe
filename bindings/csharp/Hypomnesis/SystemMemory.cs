// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>The figures of a <see cref="SystemMemory"/>; a <see cref="Diagnostic.Field"/> counts in them.</summary>
[Flags]
public enum SystemMemoryFields : uint
{
    /// <summary>None.</summary>
    None = 0,
    /// <summary><see cref="SystemMemory.TotalBytes"/>.</summary>
    Total = Raw.SYSTEM_MEMORY_HAS_TOTAL,
    /// <summary><see cref="SystemMemory.AvailableBytes"/>.</summary>
    Available = Raw.SYSTEM_MEMORY_HAS_AVAILABLE,
    /// <summary><see cref="SystemMemory.SwapTotalBytes"/>.</summary>
    SwapTotal = Raw.SYSTEM_MEMORY_HAS_SWAP_TOTAL,
    /// <summary><see cref="SystemMemory.SwapFreeBytes"/>.</summary>
    SwapFree = Raw.SYSTEM_MEMORY_HAS_SWAP_FREE,
    /// <summary><see cref="SystemMemory.LimitBytes"/>.</summary>
    Limit = Raw.SYSTEM_MEMORY_HAS_LIMIT,
    /// <summary><see cref="SystemMemory.LimitUsedBytes"/>.</summary>
    LimitUsed = Raw.SYSTEM_MEMORY_HAS_LIMIT_USED,
    /// <summary><see cref="SystemMemory.CommitLimitBytes"/>.</summary>
    CommitLimit = Raw.SYSTEM_MEMORY_HAS_COMMIT_LIMIT,
    /// <summary><see cref="SystemMemory.CommittedBytes"/>.</summary>
    Committed = Raw.SYSTEM_MEMORY_HAS_COMMITTED,
    /// <summary><see cref="SystemMemory.Pressure"/>.</summary>
    Pressure = Raw.SYSTEM_MEMORY_HAS_PRESSURE,
    /// <summary><see cref="SystemMemory.StallPercent"/>.</summary>
    Stall = Raw.SYSTEM_MEMORY_HAS_STALL,
}

/// <summary>How short of memory the system itself says that it is.</summary>
public enum Pressure : uint
{
    /// <summary>Nothing is known.</summary>
    Unknown = Raw.PRESSURE_UNKNOWN,
    /// <summary>There is enough.</summary>
    Normal = Raw.PRESSURE_NORMAL,
    /// <summary>Programs should give memory back.</summary>
    Warning = Raw.PRESSURE_WARNING,
    /// <summary>The system ends programs next; never said by Windows.</summary>
    Critical = Raw.PRESSURE_CRITICAL,
}

/// <summary>The host's RAM and this container's share of it, in bytes; null: not known.</summary>
public sealed record SystemMemory
{
    /// <summary>Remarks; <see cref="Notes.Estimated"/>: <see cref="AvailableBytes"/> is derived.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured.</summary>
    public Backend Backend { get; init; }
    /// <summary>RAM that the kernel manages.</summary>
    public ulong? TotalBytes { get; init; }
    /// <summary>What could be used without swapping.</summary>
    public ulong? AvailableBytes { get; init; }
    /// <summary>Swap space.</summary>
    public ulong? SwapTotalBytes { get; init; }
    /// <summary>Swap space that is free.</summary>
    public ulong? SwapFreeBytes { get; init; }
    /// <summary>The tightest memory limit of this process' control groups, on Windows of its job objects;
    /// null when none applies.</summary>
    public ulong? LimitBytes { get; init; }
    /// <summary>What is charged to the group or job with that limit.</summary>
    public ulong? LimitUsedBytes { get; init; }
    /// <summary>How much the kernel would promise.</summary>
    public ulong? CommitLimitBytes { get; init; }
    /// <summary>How much it has promised.</summary>
    public ulong? CommittedBytes { get; init; }
    /// <summary>macOS and Windows: what the system tells programs; Linux has no such level.</summary>
    public Pressure? Pressure { get; init; }
    /// <summary>Linux, 0..100: share of the last 10 s in which at least one task waited for memory.</summary>
    public double? StallPercent { get; init; }

    internal static unsafe SystemMemory From(IntPtr record)
    {
        var from = (SystemMemoryRecord*)record;
        return new SystemMemory
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            TotalBytes = from->TotalBytes,
            AvailableBytes = from->AvailableBytes,
            SwapTotalBytes = from->SwapTotalBytes,
            SwapFreeBytes = from->SwapFreeBytes,
            LimitBytes = from->LimitBytes,
            LimitUsedBytes = from->LimitUsedBytes,
            CommitLimitBytes = from->CommitLimitBytes,
            CommittedBytes = from->CommittedBytes,
            Pressure = (Pressure?)from->Pressure,
            StallPercent = from->StallPercent,
        };
    }
}
