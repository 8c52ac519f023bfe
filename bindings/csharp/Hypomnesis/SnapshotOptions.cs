// SPDX-License-Identifier: MIT OR Apache-2.0
using System;

namespace Hypomnesis;

/// <summary>Options of a <see cref="Snapshot"/>; 0 is the default everywhere.</summary>
public sealed record SnapshotOptions
{
    /// <summary>Its flags, which can restrict it.</summary>
    public SnapshotFlags Flags { get; init; }
    /// <summary>The parts to collect.</summary>
    public Collect Collect { get; init; }
    /// <summary>The device's index; 0 unless <see cref="SnapshotFlags.OneDevice"/>.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>The process; 0 unless <see cref="SnapshotFlags.OneProcess"/>.</summary>
    public uint Pid { get; init; }
    /// <summary>Longest time that it may take; 0 = the context's.</summary>
    public TimeSpan Deadline { get; init; }

    /// <summary>These options, restricted to one device.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    public SnapshotOptions OfDevice(uint deviceIndex) =>
        this with { Flags = Flags | SnapshotFlags.OneDevice, DeviceIndex = deviceIndex };

    /// <summary>These options, restricted to one process.</summary>
    /// <param name="pid">The process.</param>
    public SnapshotOptions OfProcess(uint pid) =>
        this with { Flags = Flags | SnapshotFlags.OneProcess, Pid = pid };
}
