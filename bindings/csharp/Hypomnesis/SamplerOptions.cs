// SPDX-License-Identifier: MIT OR Apache-2.0
using System;

namespace Hypomnesis;

/// <summary>Options of a <see cref="Sampler"/>; 0 is the default everywhere.</summary>
public sealed record SamplerOptions
{
    /// <summary>Its flags.</summary>
    public SamplerFlags Flags { get; init; }
    /// <summary>From one snapshot to the next; 0 = 1 s.</summary>
    public TimeSpan Interval { get; init; }
    /// <summary>The same for those with processes; 0 = 1 s.</summary>
    public TimeSpan ProcessInterval { get; init; }
    /// <summary>Snapshots kept until they are pulled, then the oldest is dropped; 0 = 64.</summary>
    public uint Capacity { get; init; }
}
