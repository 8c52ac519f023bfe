// SPDX-License-Identifier: MIT OR Apache-2.0
namespace Hypomnesis;

/// <summary>What a <see cref="Tracker"/> is made with.</summary>
public sealed record TrackerOptions
{
    /// <summary>The limit; null: none, 0 allows nothing.</summary>
    public ulong? LimitBytes { get; init; }
    /// <summary>Tags that there can be; 0 = 64.</summary>
    public uint TagCapacity { get; init; }
}
