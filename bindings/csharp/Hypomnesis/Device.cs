// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;

namespace Hypomnesis;

/// <summary>The result of <see cref="Context.Scan"/>.</summary>
/// <param name="Count">Number of device indexes of the context, which never shrinks.</param>
/// <param name="Generation">A number that changes when a device is added, is gone or comes back.</param>
public readonly record struct DeviceScan(uint Count, ulong Generation);

public sealed partial record Device
{
    /// <summary>In a snapshot: the device's memory pools, the main pool first. Otherwise empty.</summary>
    public IReadOnlyList<Pool> Pools { get; init; } = Array.Empty<Pool>();
    /// <summary>In a snapshot: load, temperature and power; null when not requested or not available.</summary>
    public Telemetry? Telemetry { get; init; }
    /// <summary>In a snapshot: what the calling process uses on the device; null when not requested or
    /// not available.</summary>
    public Usage? OwnUsage { get; init; }
    /// <summary>In a snapshot: all single numbers that the sources report. Otherwise empty.</summary>
    public IReadOnlyList<Metric> Metrics { get; init; } = Array.Empty<Metric>();
}
