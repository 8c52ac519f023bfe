// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;

namespace Hypomnesis;

/// <summary>What <see cref="Context.Scan"/> has found.</summary>
/// <param name="Count">Number of device indexes that the context has given, which never shrinks.</param>
/// <param name="Generation">A number that changes when a device is added, is gone or comes back.</param>
public readonly record struct DeviceScan(uint Count, ulong Generation);

public sealed partial record Device
{
    /// <summary>Of a snapshot: the device's memory pools, the main pool first. Else empty.</summary>
    public IReadOnlyList<Pool> Pools { get; init; } = Array.Empty<Pool>();
    /// <summary>Of a snapshot: load, temperature and power; null when not asked for or not to be had.</summary>
    public Telemetry? Telemetry { get; init; }
    /// <summary>Of a snapshot: what the calling process uses on the device; null when not asked for or
    /// not to be had.</summary>
    public Usage? OwnUsage { get; init; }
    /// <summary>Of a snapshot: each single number that the sources report. Else empty.</summary>
    public IReadOnlyList<Metric> Metrics { get; init; } = Array.Empty<Metric>();
}
