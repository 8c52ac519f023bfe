// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>What changed from one snapshot to another: after minus before. Null: a side does not know
/// it.</summary>
public sealed record Delta
{
    /// <summary>Remarks on this result.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured the device.</summary>
    public Backend Backend { get; init; }
    /// <summary>The device's index.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>Whether <see cref="DeviceBytes"/> is this process' or the device's.</summary>
    public Scope Scope { get; init; }
    /// <summary>What <see cref="DeviceBytes"/> counts.</summary>
    public Accounting Accounting { get; init; }
    /// <summary>The caller's resident set.</summary>
    public long? MemoryBytes { get; init; }
    /// <summary>Of the caller when both snapshots know that, else of the device.</summary>
    public long? DeviceBytes { get; init; }
    /// <summary>Nanoseconds from one to the other.</summary>
    public ulong ElapsedNs { get; init; }
    /// <summary>Joules that the whole device took.</summary>
    public double? EnergyJoules { get; init; }

    internal static unsafe Delta From(IntPtr record)
    {
        var from = (DeltaRecord*)record;
        return new Delta
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            DeviceIndex = from->DeviceIndex,
            Scope = (Scope)from->Scope,
            Accounting = (Accounting)from->Accounting,
            MemoryBytes = from->MemoryBytes,
            DeviceBytes = from->DeviceBytes,
            ElapsedNs = from->ElapsedNs,
            EnergyJoules = from->EnergyJoules,
        };
    }
}
