// SPDX-License-Identifier: MIT OR Apache-2.0
namespace Hypomnesis;

/// <summary>Options of a <see cref="Tracker"/>.</summary>
public sealed record TrackerOptions
{
    /// <summary>The limit; null: none, 0 allows nothing.</summary>
    public ulong? LimitBytes { get; init; }
    /// <summary>Most tags; 0 = 64.</summary>
    public uint TagCapacity { get; init; }
}
