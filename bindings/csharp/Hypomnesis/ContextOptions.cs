// SPDX-License-Identifier: MIT OR Apache-2.0
namespace Hypomnesis;

/// <summary>What a <see cref="Context"/> is made with; 0 is the default everywhere.</summary>
public sealed record ContextOptions
{
    /// <summary>How it works.</summary>
    public ContextFlags Flags { get; init; }
    /// <summary>Milliseconds that one call may wait for drivers at the longest; 0 = 1000.</summary>
    public uint DeadlineMs { get; init; }
    /// <summary>Milliseconds that a value given instead of <see cref="Status.Timeout"/> may be old;
    /// 0 = 5000.</summary>
    public uint StaleMs { get; init; }
    /// <summary>Longest wait, in milliseconds, for a vendor library to open; 0 = 10000.</summary>
    public uint OpenDeadlineMs { get; init; }
    /// <summary>Readings this young, in milliseconds, share one driver call; 0 = none do.</summary>
    public uint MaxAgeMs { get; init; }
    /// <summary>A vendor library whose GPU may sleep is shut down this many milliseconds after the last
    /// reading; 0 = 2000.</summary>
    public uint IdleCloseMs { get; init; }
    /// <summary>All processes are looked through for GPU clients at least this often, in milliseconds,
    /// the known clients at each reading; 0 = 2000.</summary>
    public uint RescanMs { get; init; }
    /// <summary>Bit n disables backend n.</summary>
    public ulong BackendsOff { get; init; }
    /// <summary>Bit n lists devices of <see cref="DeviceClass"/> n; 0 = GPUs alone.</summary>
    public uint DeviceClasses { get; init; }
    /// <summary>Most processor time for RescanMs, in percent of a core; 0 = 2, 100 = without a limit.</summary>
    public uint RescanPercent { get; init; }
}
