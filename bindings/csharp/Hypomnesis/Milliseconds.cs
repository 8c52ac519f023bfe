// SPDX-License-Identifier: MIT OR Apache-2.0
namespace Hypomnesis;

/// <summary>Times that options in milliseconds take besides numbers.</summary>
public static class Milliseconds
{
    /// <summary>No limit.</summary>
    public const uint Unlimited = uint.MaxValue;

    /// <summary>No time at all: immediately.</summary>
    public const uint Immediate = uint.MaxValue - 1;
}
