// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Where a spill detector stands.</summary>
[Flags]
public enum SpillStates : uint
{
    /// <summary>Nothing was observed.</summary>
    None = 0,
    /// <summary>At least one observation had its figures.</summary>
    Measurable = Raw.SPILL_MEASURABLE,
    /// <summary>The last one spilled.</summary>
    Now = Raw.SPILL_NOW,
    /// <summary>One did.</summary>
    Ever = Raw.SPILL_EVER,
}

/// <summary>Which rule held.</summary>
[Flags]
public enum SpillRules : uint
{
    /// <summary>None.</summary>
    None = 0,
    /// <summary>The device is full, and the host memory that it uses has grown.</summary>
    Shared = Raw.SPILL_BY_SHARED,
    /// <summary>What drivers say was moved out has grown.</summary>
    Evicted = Raw.SPILL_BY_EVICTED,
}

/// <summary>What a spill detector has seen, in bytes; null: nobody tells.</summary>
public sealed record SpillInfo
{
    /// <summary>Remarks on the last observation.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured the last observation; none: it was fed.</summary>
    public Backend Backend { get; init; }
    /// <summary>The device's index.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>Where it stands.</summary>
    public SpillStates State { get; init; }
    /// <summary>Which rules held in the last observation.</summary>
    public SpillRules Rules { get; init; }
    /// <summary>Ok, or why the last try gave no observation.</summary>
    public Status Status { get; init; }
    /// <summary>Observations made.</summary>
    public ulong ObservationCount { get; init; }
    /// <summary>Tries that gave none.</summary>
    public ulong SkippedCount { get; init; }
    /// <summary>Episodes ever begun; the last one may still be open.</summary>
    public ulong EpisodeCount { get; init; }
    /// <summary>Lowest number that is still kept.</summary>
    public ulong FirstEpisode { get; init; }
    /// <summary>Size of the device's memory.</summary>
    public ulong? LimitBytes { get; init; }
    /// <summary>Used of it.</summary>
    public ulong? DedicatedBytes { get; init; }
    /// <summary>Host RAM that the device uses.</summary>
    public ulong? SharedBytes { get; init; }
    /// <summary>Wanted in the device's memory and not there.</summary>
    public ulong? EvictedBytes { get; init; }
    /// <summary>The highest <see cref="DedicatedBytes"/>.</summary>
    public ulong? PeakDedicatedBytes { get; init; }
    /// <summary>The highest <see cref="SharedBytes"/>.</summary>
    public ulong? PeakSharedBytes { get; init; }
    /// <summary>The highest <see cref="EvictedBytes"/>.</summary>
    public ulong? PeakEvictedBytes { get; init; }
    /// <summary><see cref="SharedBytes"/> of the first observation.</summary>
    public ulong? BaselineSharedBytes { get; init; }
    /// <summary><see cref="EvictedBytes"/> at first.</summary>
    public ulong? BaselineEvictedBytes { get; init; }
    /// <summary>How long all episodes lasted, in nanoseconds.</summary>
    public ulong TotalNs { get; init; }
    /// <summary>How long the longest did.</summary>
    public ulong? LongestNs { get; init; }
    /// <summary>Its number.</summary>
    public ulong? LongestEpisode { get; init; }
    /// <summary>Label of the first episode.</summary>
    public string? FirstLabel { get; init; }
    /// <summary>Why <see cref="Status"/> is what it is.</summary>
    public string Message { get; init; } = "";

    internal static unsafe SpillInfo From(IntPtr record)
    {
        var from = (SpillInfoRecord*)record;
        return new SpillInfo
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            DeviceIndex = from->DeviceIndex,
            State = (SpillStates)from->State,
            Rules = (SpillRules)from->Rules,
            Status = (Status)from->Status,
            ObservationCount = from->ObservationCount,
            SkippedCount = from->SkippedCount,
            EpisodeCount = from->EpisodeCount,
            FirstEpisode = from->FirstEpisode,
            LimitBytes = from->LimitBytes,
            DedicatedBytes = from->DedicatedBytes,
            SharedBytes = from->SharedBytes,
            EvictedBytes = from->EvictedBytes,
            PeakDedicatedBytes = from->PeakDedicatedBytes,
            PeakSharedBytes = from->PeakSharedBytes,
            PeakEvictedBytes = from->PeakEvictedBytes,
            BaselineSharedBytes = from->BaselineSharedBytes,
            BaselineEvictedBytes = from->BaselineEvictedBytes,
            TotalNs = from->TotalNs,
            LongestNs = from->LongestNs,
            LongestEpisode = from->LongestEpisode,
            FirstLabel = from->FirstLabel,
            Message = from->Message,
        };
    }
}
