// SPDX-License-Identifier: MIT OR Apache-2.0
namespace Hypomnesis;

/// <summary>What a <see cref="Spill"/> is made with; 0 is the default everywhere.</summary>
public sealed record SpillOptions
{
    /// <summary>Episodes kept, then the oldest is dropped; 0 = 1024.</summary>
    public uint EpisodeCapacity { get; init; }
    /// <summary>From what on the device counts as full; 0 = 85 % of its memory.</summary>
    public ulong DedicatedThresholdBytes { get; init; }
    /// <summary>Growth over the first observation; 0 = 256 MiB.</summary>
    public ulong GrowthBytes { get; init; }
}

/// <summary>Values from elsewhere.</summary>
public sealed record SpillSample
{
    /// <summary>When, nanoseconds by the clock that never jumps; 0 = now.</summary>
    public ulong MonotonicNs { get; init; }
    /// <summary>Used of the device's memory.</summary>
    public ulong DedicatedBytes { get; init; }
    /// <summary>Host RAM that the device uses.</summary>
    public ulong SharedBytes { get; init; }
    /// <summary>Size of the device's memory; null: not known.</summary>
    public ulong? LimitBytes { get; init; }
    /// <summary>Wanted in the device's memory and not there; null: not known.</summary>
    public ulong? EvictedBytes { get; init; }
}
