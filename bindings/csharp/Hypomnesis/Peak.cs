// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>The highest figures that a sampler has seen, each for itself, in bytes; null: none was
/// seen.</summary>
public sealed record Peak
{
    /// <summary>Remarks on the reading that <see cref="UsedBytes"/> is from.</summary>
    public Notes Notes { get; init; }
    /// <summary>Who measured it.</summary>
    public Backend Backend { get; init; }
    /// <summary>The device's index.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>The process; 0: of the device.</summary>
    public uint Pid { get; init; }
    /// <summary>What <see cref="UsedBytes"/> counts.</summary>
    public Accounting Accounting { get; init; }
    /// <summary>What was used; of a device: of its main pool.</summary>
    public ulong? UsedBytes { get; init; }
    /// <summary>Host RAM mapped for the device.</summary>
    public ulong? HostPoolBytes { get; init; }
    /// <summary>The process' resident set.</summary>
    public ulong? HostResidentBytes { get; init; }
    /// <summary>When <see cref="UsedBytes"/> was seen first, nanoseconds by the clock that never
    /// jumps.</summary>
    public ulong? UsedMonotonicNs { get; init; }

    internal static unsafe Peak From(IntPtr record)
    {
        var from = (PeakRecord*)record;
        return new Peak
        {
            Notes = (Notes)from->Notes,
            Backend = (Backend)from->Backend,
            DeviceIndex = from->DeviceIndex,
            Pid = from->Pid,
            Accounting = (Accounting)from->Accounting,
            UsedBytes = from->UsedBytes,
            HostPoolBytes = from->HostPoolBytes,
            HostResidentBytes = from->HostResidentBytes,
            UsedMonotonicNs = from->UsedMonotonicNs,
        };
    }
}
