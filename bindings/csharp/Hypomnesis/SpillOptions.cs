// SPDX-License-Identifier: MIT OR Apache-2.0
using System;

namespace Hypomnesis;

/// <summary>Options of a <see cref="Spill"/>; 0 is the default everywhere.</summary>
public sealed record SpillOptions
{
    /// <summary>Episodes kept, then the oldest is dropped; 0 = 1024.</summary>
    public uint EpisodeCapacity { get; init; }
    /// <summary>The use from which on the device counts as full; 0 = 85 % of its memory.</summary>
    public ulong DedicatedThresholdBytes { get; init; }
    /// <summary>Growth over the first observation; 0 = 256 MiB.</summary>
    public ulong GrowthBytes { get; init; }
}

/// <summary>Values from another source.</summary>
public sealed record SpillSample
{
    /// <summary>Their time, as <see cref="Library.Monotonic"/> returns it; zero is now.</summary>
    public TimeSpan Monotonic { get; init; }
    /// <summary>Memory used on the device.</summary>
    public ulong DedicatedBytes { get; init; }
    /// <summary>Host RAM that the device uses.</summary>
    public ulong SharedBytes { get; init; }
    /// <summary>Size of the device's memory; null: not known.</summary>
    public ulong? LimitBytes { get; init; }
    /// <summary>Memory that belongs on the device and was moved away; null: not known.</summary>
    public ulong? EvictedBytes { get; init; }
}
