// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Counts, times and notes of a snapshot.</summary>
public sealed record SnapshotInfo
{
    /// <summary>Remarks; <see cref="Notes.Partial"/>: something asked for is missing.</summary>
    public Notes Notes { get; init; }
    /// <summary>What was asked for.</summary>
    public Collect Collect { get; init; }
    /// <summary>How many devices it holds.</summary>
    public uint DeviceCount { get; init; }
    /// <summary>How many pools, of all devices.</summary>
    public uint PoolCount { get; init; }
    /// <summary>How many usages, of all devices.</summary>
    public uint UsageCount { get; init; }
    /// <summary>How many diagnostics.</summary>
    public uint DiagnosticCount { get; init; }
    /// <summary>Processes listed by a driver that the system would not describe.</summary>
    public uint UnreadableProcessCount { get; init; }
    /// <summary>How many metrics, of all devices.</summary>
    public uint MetricCount { get; init; }
    /// <summary>When it was begun, nanoseconds since 1970.</summary>
    public ulong UnixTimeNs { get; init; }
    /// <summary>The same by the clock that never jumps, nanoseconds.</summary>
    public ulong MonotonicNs { get; init; }
    /// <summary>How long it took, nanoseconds.</summary>
    public ulong DurationNs { get; init; }

    internal static unsafe SnapshotInfo From(IntPtr record)
    {
        var from = (SnapshotInfoRecord*)record;
        return new SnapshotInfo
        {
            Notes = (Notes)from->Notes,
            Collect = (Collect)from->Collect,
            DeviceCount = from->DeviceCount,
            PoolCount = from->PoolCount,
            UsageCount = from->UsageCount,
            DiagnosticCount = from->DiagnosticCount,
            UnreadableProcessCount = from->UnreadableProcessCount,
            MetricCount = from->MetricCount,
            UnixTimeNs = from->UnixTimeNs,
            MonotonicNs = from->MonotonicNs,
            DurationNs = from->DurationNs,
        };
    }
}
