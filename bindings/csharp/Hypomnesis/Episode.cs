// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Consecutive observations that spilled.</summary>
public sealed record Episode
{
    /// <summary>Remarks.</summary>
    public Notes Notes { get; init; }
    /// <summary>Which rules held in it.</summary>
    public SpillRules Rules { get; init; }
    /// <summary>Its number, from 0.</summary>
    public ulong Number { get; init; }
    /// <summary>Observations in it.</summary>
    public ulong ObservationCount { get; init; }
    /// <summary>The highest host RAM that the device used.</summary>
    public ulong PeakSharedBytes { get; init; }
    /// <summary>The highest that was evicted.</summary>
    public ulong? PeakEvictedBytes { get; init; }
    /// <summary>When it began, nanoseconds by the clock that never jumps.</summary>
    public ulong StartMonotonicNs { get; init; }
    /// <summary>When the first observation after it was made; null: it goes on.</summary>
    public ulong? EndMonotonicNs { get; init; }
    /// <summary>From its first observation to its last.</summary>
    public ulong DurationNs { get; init; }
    /// <summary>Label of its first observation.</summary>
    public string StartLabel { get; init; } = "";
    /// <summary>Label of the first observation after it; null: it goes on.</summary>
    public string? EndLabel { get; init; }

    internal static unsafe Episode From(IntPtr record)
    {
        var from = (EpisodeRecord*)record;
        return new Episode
        {
            Notes = (Notes)from->Notes,
            Rules = (SpillRules)from->Rules,
            Number = from->Number,
            ObservationCount = from->ObservationCount,
            PeakSharedBytes = from->PeakSharedBytes,
            PeakEvictedBytes = from->PeakEvictedBytes,
            StartMonotonicNs = from->StartMonotonicNs,
            EndMonotonicNs = from->EndMonotonicNs,
            DurationNs = from->DurationNs,
            StartLabel = from->StartLabel,
            EndLabel = from->EndLabel,
        };
    }
}
