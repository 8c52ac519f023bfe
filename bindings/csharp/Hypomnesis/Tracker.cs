// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Bookkeeping of a budget, which allocates nothing itself. Safe from any thread: the limit holds at
/// every instant. It outlives its context. After <see cref="Dispose"/> its members throw
/// <see cref="ObjectDisposedException"/>.</summary>
public sealed class Tracker : IDisposable
{
    private readonly TrackerHandle handle;
    private volatile bool closed;

    /// <summary>Makes a tracker for bookkeeping alone; <see cref="Context.CreateTracker"/> makes one that also
    /// asks a device.</summary>
    /// <param name="options">Its options; null: every default.</param>
    /// <exception cref="HypomnesisRangeException">The tag capacity is above 65536.</exception>
    public Tracker(TrackerOptions? options = null)
    {
        Libraries.Ensure();
        var error = Native.NewError();
        handle = Raw.new_Tracker(LimitFlags(options?.LimitBytes), options?.LimitBytes ?? 0,
            options?.TagCapacity ?? 0, ref error);
        if (error.status != Raw.OK)
            handle.Dispose();
        HypomnesisException.ThrowIfFailed(ref error);
    }

    internal Tracker(TrackerHandle handle) => this.handle = handle;

    internal static uint LimitFlags(ulong? limitBytes) => limitBytes is null ? 0u : Raw.TRACKER_LIMITED;

    /// <summary>Takes bytes from the budget, and counts them under a tag.</summary>
    /// <param name="bytes">The number of bytes.</param>
    /// <param name="tag">The tag; 0: none.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.Limit"/>: they would exceed the
    /// limit.</exception>
    /// <exception cref="HypomnesisRangeException">No such tag.</exception>
    public void Allocate(ulong bytes, uint tag = 0)
    {
        var error = Native.NewError();
        Raw.Tracker_allocate(OpenHandle, bytes, tag, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Gives bytes back.</summary>
    /// <param name="bytes">The number of bytes.</param>
    /// <param name="tag">The tag that they were allocated under; 0: none.</param>
    /// <exception cref="HypomnesisRangeException">More than is allocated, or no such tag.</exception>
    public void Release(ulong bytes, uint tag = 0)
    {
        var error = Native.NewError();
        Raw.Tracker_release(OpenHandle, bytes, tag, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Whether bytes would fit now, within the limit and on a linked device.</summary>
    /// <param name="bytes">The number of bytes.</param>
    /// <exception cref="HypomnesisException">The device does not answer: <see cref="Status.Timeout"/>,
    /// <see cref="Status.Asleep"/>, <see cref="Status.DeviceLost"/> and others.</exception>
    public bool WouldFit(ulong bytes)
    {
        var error = Native.NewError();
        var fits = Raw.Tracker_would_fit(OpenHandle, bytes, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return fits != 0;
    }

    /// <summary>Sets another limit.</summary>
    /// <param name="bytes">The limit; null removes it, 0 allows nothing.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.Limit"/>: more is allocated.</exception>
    public void SetLimit(ulong? bytes)
    {
        var error = Native.NewError();
        Raw.Tracker_set_limit(OpenHandle, LimitFlags(bytes), bytes ?? 0, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Forgets what is allocated, and the peaks; limit and tags stay.</summary>
    public void Reset()
    {
        var error = Native.NewError();
        Raw.Tracker_reset(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>The number of the tag with that name, which is created if there is none.</summary>
    /// <param name="name">Up to 63 bytes.</param>
    /// <exception cref="ArgumentException">The name is empty or too long.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.Limit"/>: there are as many tags as
    /// the capacity.</exception>
    public uint Tag(string name)
    {
        var error = Native.NewError();
        var tag = Raw.Tracker_tag(OpenHandle, name, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return tag;
    }

    /// <summary>State of the budget.</summary>
    public TrackerInfo ReadInfo()
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Tracker_info(OpenHandle, ref error), ref error, TrackerInfo.From);
    }

    /// <summary>What was allocated under a tag.</summary>
    /// <param name="tag">From 1 up to <see cref="TrackerInfo.TagCount"/>.</param>
    /// <exception cref="HypomnesisRangeException">No such tag.</exception>
    public Tag ReadTag(uint tag)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Tracker_read_tag(OpenHandle, tag, ref error), ref error, Hypomnesis.Tag.From);
    }

    /// <summary>Frees it; calling it again is fine.</summary>
    public void Dispose()
    {
        closed = true;
        handle.Dispose();
    }

    private TrackerHandle OpenHandle =>
        closed ? throw new ObjectDisposedException(nameof(Tracker)) : handle;
}
