// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Threading;

namespace Hypomnesis;

/// <summary>Durations with a meaning of their own. As an option <see cref="TimeSpan.Zero"/> is the
/// default.</summary>
public static class Duration
{
    /// <summary>No limit.</summary>
    public static readonly TimeSpan Unlimited = Timeout.InfiniteTimeSpan;

    /// <summary>As an option, no time at all.</summary>
    public static readonly TimeSpan Immediate = TimeSpan.FromTicks(1);

    internal static ulong Nanoseconds(TimeSpan duration, string name)
    {
        const long PerTick = 1_000_000 / TimeSpan.TicksPerMillisecond;
        if (duration == Unlimited)
            return ulong.MaxValue;
        if (duration == Immediate)
            return 1;
        if (duration < TimeSpan.Zero)
            throw new ArgumentOutOfRangeException(name, duration, "a duration is not less than 0");
        return duration.Ticks <= long.MaxValue / PerTick ? (ulong)(duration.Ticks * PerTick) : long.MaxValue;
    }
}
