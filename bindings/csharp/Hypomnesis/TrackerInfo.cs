// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>What a <see cref="Tracker"/> is made with; 0 is the default everywhere.</summary>
public sealed record TrackerOptions
{
    /// <summary>The limit; 0: none.</summary>
    public ulong LimitBytes { get; init; }
    /// <summary>Tags that there can be; 0 = 64.</summary>
    public uint TagCapacity { get; init; }
}

/// <summary>How a budget fares.</summary>
public sealed record TrackerInfo
{
    /// <summary>Remarks.</summary>
    public Notes Notes { get; init; }
    /// <summary>The device that it is linked to; null: none.</summary>
    public uint? DeviceIndex { get; init; }
    /// <summary>Tags are numbered from 1 up to it.</summary>
    public uint TagCount { get; init; }
    /// <summary>The limit; null: none.</summary>
    public ulong? LimitBytes { get; init; }
    /// <summary>What is allocated.</summary>
    public ulong AllocatedBytes { get; init; }
    /// <summary>The most that was allocated.</summary>
    public ulong PeakBytes { get; init; }
    /// <summary>Allocations that the limit refused.</summary>
    public ulong RefusedCount { get; init; }

    internal static unsafe TrackerInfo From(IntPtr record)
    {
        var from = (TrackerInfoRecord*)record;
        return new TrackerInfo
        {
            Notes = (Notes)from->Notes,
            DeviceIndex = from->DeviceIndex,
            TagCount = from->TagCount,
            LimitBytes = from->LimitBytes,
            AllocatedBytes = from->AllocatedBytes,
            PeakBytes = from->PeakBytes,
            RefusedCount = from->RefusedCount,
        };
    }
}
