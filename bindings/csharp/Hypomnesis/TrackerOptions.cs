// SPDX-License-Identifier: MIT OR Apache-2.0
namespace Hypomnesis;

/// <summary>What a <see cref="Tracker"/> is made with; 0 is the default everywhere.</summary>
public sealed record TrackerOptions
{
    /// <summary>The limit; 0: none.</summary>
    public ulong LimitBytes { get; init; }
    /// <summary>Tags that there can be; 0 = 64.</summary>
    public uint TagCapacity { get; init; }
}
