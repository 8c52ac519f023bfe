// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>What a snapshot shall hold.</summary>
[Flags]
public enum Collect : uint
{
    /// <summary>Memory, devices, pools, self.</summary>
    Default = 0,
    /// <summary>The caller's host memory: resident and virtual.</summary>
    Memory = Raw.COLLECT_MEMORY,
    /// <summary>The host's memory.</summary>
    System = Raw.COLLECT_SYSTEM,
    /// <summary>Who the devices are (implied by all of the next).</summary>
    Devices = Raw.COLLECT_DEVICES,
    /// <summary>The devices' memory.</summary>
    Pools = Raw.COLLECT_POOLS,
    /// <summary>What the caller uses on each.</summary>
    Self = Raw.COLLECT_SELF,
    /// <summary>What every process uses on each.</summary>
    Processes = Raw.COLLECT_PROCESSES,
    /// <summary>Load, temperature, power.</summary>
    Telemetry = Raw.COLLECT_TELEMETRY,
    /// <summary>Each single number that the sources tell.</summary>
    Metrics = Raw.COLLECT_METRICS,
    /// <summary>All of these.</summary>
    Everything = Memory | System | Devices | Pools | Self | Processes | Telemetry | Metrics,
}

/// <summary>What a snapshot is confined to.</summary>
[Flags]
public enum SnapshotFlags : uint
{
    /// <summary>To nothing.</summary>
    None = 0,
    /// <summary><see cref="SnapshotOptions.DeviceIndex"/> says which device.</summary>
    OneDevice = Raw.SNAPSHOT_ONE_DEVICE,
    /// <summary><see cref="SnapshotOptions.Pid"/> says which process: keeps the usages of that pid
    /// alone.</summary>
    OneProcess = Raw.SNAPSHOT_ONE_PROCESS,
    /// <summary>Also metrics that take more than a few milliseconds.</summary>
    Slow = Raw.SNAPSHOT_SLOW,
}

/// <summary>What a <see cref="Snapshot"/> is taken with; 0 is the default everywhere.</summary>
public sealed record SnapshotOptions
{
    /// <summary>What it is confined to.</summary>
    public SnapshotFlags Flags { get; init; }
    /// <summary>What it shall hold.</summary>
    public Collect Collect { get; init; }
    /// <summary>The device's index; 0 unless <see cref="SnapshotFlags.OneDevice"/>.</summary>
    public uint DeviceIndex { get; init; }
    /// <summary>The process; 0 unless <see cref="SnapshotFlags.OneProcess"/>.</summary>
    public uint Pid { get; init; }
    /// <summary>Milliseconds that it may take; 0 = the context's.</summary>
    public uint DeadlineMs { get; init; }

    /// <summary>These options, confined to one device.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    public SnapshotOptions OfDevice(uint deviceIndex) =>
        this with { Flags = Flags | SnapshotFlags.OneDevice, DeviceIndex = deviceIndex };

    /// <summary>These options, confined to one process.</summary>
    /// <param name="pid">The process.</param>
    public SnapshotOptions OfProcess(uint pid) =>
        this with { Flags = Flags | SnapshotFlags.OneProcess, Pid = pid };
}
