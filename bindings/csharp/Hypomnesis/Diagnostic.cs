// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Why something is missing from a snapshot, and what can be done.</summary>
public sealed record Diagnostic
{
    /// <summary>Remarks; <see cref="Notes.Trace"/>: not a fault, a recorded driver call.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who failed.</summary>
    public Backend Backend { get; init; }
    /// <summary>Why. <see cref="Status.Unsupported"/> (this card has no such value) and
    /// <see cref="Status.NoDevice"/> (this backend is sure that it has no device) do not make a snapshot
    /// <see cref="Notes.Partial"/>.</summary>
    public Status Status { get; init; }
    /// <summary>Whose number <see cref="NativeCode"/> is.</summary>
    public NativeDomain NativeDomain { get; init; }
    /// <summary>The driver's or the system's own number.</summary>
    public int NativeCode { get; init; }
    /// <summary>What it is about.</summary>
    public Collect Subject { get; init; }
    /// <summary>The fields that are missing because of it: bits of <see cref="ProcessMemoryFields"/>,
    /// <see cref="SystemMemoryFields"/>, <see cref="DeviceFields"/>, <see cref="PoolFields"/>,
    /// <see cref="UsageFields"/> or <see cref="TelemetryFields"/>, by <see cref="Subject"/>; of
    /// <see cref="Collect.Metrics"/> the <see cref="MetricId"/>; or null.</summary>
    public uint? Field { get; init; }
    /// <summary>The device's index, or null when it is about no one device.</summary>
    public uint? DeviceIndex { get; init; }
    /// <summary>The process, the first of several, or null.</summary>
    public uint? Pid { get; init; }
    /// <summary>How many alike were merged into this one.</summary>
    public uint Count { get; init; }
    /// <summary>Nanoseconds that a traced call took, or null.</summary>
    public ulong? DurationNs { get; init; }
    /// <summary>A sentence that says what is wrong and what can be done.</summary>
    public string Message { get; init; } = "";

    internal static unsafe Diagnostic From(IntPtr record)
    {
        var from = (DiagnosticRecord*)record;
        return new Diagnostic
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            Status = (Status)from->Status,
            NativeDomain = (NativeDomain)from->NativeDomain,
            NativeCode = from->NativeCode,
            Subject = (Collect)from->Subject,
            Field = from->Field,
            DeviceIndex = from->DeviceIndex,
            Pid = from->Pid,
            Count = from->Count,
            DurationNs = from->DurationNs,
            Message = from->Message,
        };
    }
}
