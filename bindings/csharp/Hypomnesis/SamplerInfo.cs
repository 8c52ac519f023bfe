// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Where a sampler is in its life, which has one way.</summary>
public enum SamplerState : uint
{
    /// <summary>Not known.</summary>
    Unknown = 0,
    /// <summary>It was not started.</summary>
    Idle = Raw.SAMPLER_IDLE,
    /// <summary>It takes snapshots.</summary>
    Running = Raw.SAMPLER_RUNNING,
    /// <summary>It takes no more.</summary>
    Stopped = Raw.SAMPLER_STOPPED,
}

/// <summary>How a sampler fares.</summary>
public sealed record SamplerInfo
{
    /// <summary>Remarks.</summary>
    public Notes Notes { get; init; }
    /// <summary>Where it is in its life.</summary>
    public SamplerState State { get; init; }
    /// <summary>Snapshots that wait to be pulled.</summary>
    public uint Pending { get; init; }
    /// <summary>Of the last try; null: there was none.</summary>
    public Status? LastStatus { get; init; }
    /// <summary>Snapshots taken.</summary>
    public ulong TakenCount { get; init; }
    /// <summary>Of these, dropped unread to make room.</summary>
    public ulong DroppedCount { get; init; }
    /// <summary>Times that were left out since the snapshot before took too long.</summary>
    public ulong LateCount { get; init; }
    /// <summary>Tries that gave no snapshot.</summary>
    public ulong FailedCount { get; init; }
    /// <summary>When the last try was begun, nanoseconds by the clock that never jumps.</summary>
    public ulong? LastMonotonicNs { get; init; }

    internal static unsafe SamplerInfo From(IntPtr record)
    {
        var from = (SamplerInfoRecord*)record;
        return new SamplerInfo
        {
            Notes = (Notes)from->Notes,
            State = (SamplerState)from->State,
            Pending = from->Pending,
            LastStatus = (Status?)from->LastStatus,
            TakenCount = from->TakenCount,
            DroppedCount = from->DroppedCount,
            LateCount = from->LateCount,
            FailedCount = from->FailedCount,
            LastMonotonicNs = from->LastMonotonicNs,
        };
    }
}
