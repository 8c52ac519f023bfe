// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>What was allocated under a tag.</summary>
public sealed record Tag
{
    /// <summary>Remarks.</summary>
    public Notes Notes { get; init; }
    /// <summary>Its number.</summary>
    public uint Number { get; init; }
    /// <summary>What is allocated.</summary>
    public ulong AllocatedBytes { get; init; }
    /// <summary>The most that was allocated.</summary>
    public ulong PeakBytes { get; init; }
    /// <summary>Its name.</summary>
    public string Name { get; init; } = "";

    internal static unsafe Tag From(IntPtr record)
    {
        var from = (TagRecord*)record;
        return new Tag
        {
            Notes = (Notes)from->Notes,
            Number = from->Number,
            AllocatedBytes = from->AllocatedBytes,
            PeakBytes = from->PeakBytes,
            Name = from->Name,
        };
    }
}
