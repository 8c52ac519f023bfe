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

    /// <summary>A time of the library, cut to ticks of 100 ns.</summary>
    internal static TimeSpan Span(ulong ns) => TimeSpan.FromTicks((long)(ns / 100));

    internal static TimeSpan? Span(ulong? ns) => ns is { } known ? Span(known) : null;

    /// <summary>A time in nanoseconds since 1970.</summary>
    internal static DateTimeOffset Time(ulong ns) => new DateTimeOffset(1970, 1, 1, 0, 0, 0, TimeSpan.Zero) + Span(ns);

    internal static DateTimeOffset? Time(ulong? ns) => ns is { } known ? Time(known) : null;

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
