// SPDX-License-Identifier: MIT OR Apache-2.0
using System;

namespace Hypomnesis;

/// <summary>Options of a <see cref="Context"/>; 0 is the default everywhere.</summary>
public sealed record ContextOptions
{
    /// <summary>Its flags.</summary>
    public ContextFlags Flags { get; init; }
    /// <summary>Longest time that one call may wait for drivers; 0 = 1 s.</summary>
    public TimeSpan Deadline { get; init; }
    /// <summary>Longest age of a value returned instead of <see cref="Status.Timeout"/>; 0 = 5 s.</summary>
    public TimeSpan Stale { get; init; }
    /// <summary>Longest wait for a vendor library to open; 0 = 10 s.</summary>
    public TimeSpan OpenDeadline { get; init; }
    /// <summary>Readings this young share one driver call; 0 = none do.</summary>
    public TimeSpan MaxAge { get; init; }
    /// <summary>A vendor library whose GPU may sleep is shut down this long after the last reading;
    /// 0 = 2 s.</summary>
    public TimeSpan IdleClose { get; init; }
    /// <summary>All processes are searched for GPU clients at least this often, the known clients at each
    /// reading; 0 = 2 s.</summary>
    public TimeSpan Rescan { get; init; }
    /// <summary>Bit n disables backend n.</summary>
    public ulong BackendsOff { get; init; }
    /// <summary>Bit n lists devices of <see cref="DeviceClass"/> n; 0 = only GPUs.</summary>
    public uint DeviceClasses { get; init; }
    /// <summary>Most processor time for Rescan, in percent of a core; 0 = 2, 100 = without a limit.</summary>
    public uint RescanPercent { get; init; }
}
