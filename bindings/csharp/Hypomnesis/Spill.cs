// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Detects device memory that moves to the host. Safe from any thread; it outlives its context.
/// After <see cref="Dispose"/> its members throw <see cref="ObjectDisposedException"/>.</summary>
public sealed class Spill : IDisposable
{
    private readonly SpillHandle handle;
    private volatile bool closed;

    internal Spill(SpillHandle made) => handle = made;

    /// <summary>Makes a detector without a context: it is fed, or observes snapshots.</summary>
    /// <param name="options">How it judges; null: every default.</param>
    /// <param name="deviceIndex">The device of the snapshots.</param>
    /// <exception cref="HypomnesisRangeException">The capacity is above 65536.</exception>
    public static Spill CreateFed(SpillOptions? options = null, uint deviceIndex = 0)
    {
        Libraries.Ensure();
        options ??= new SpillOptions();
        var error = Native.NewError();
        var made = Raw.lone_spill(deviceIndex, options.EpisodeCapacity, options.DedicatedThresholdBytes,
            options.GrowthBytes, ref error);
        return Made(made, ref error);
    }

    internal static Spill Made(SpillHandle made, ref ErrorRecord error)
    {
        if (error.status != Raw.OK)
            made.Dispose();
        HypomnesisException.ThrowOn(ref error);
        return new Spill(made);
    }

    /// <summary>Reads the device.</summary>
    /// <param name="label">Names the moment.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.Unsupported"/>: not reported by the device, also in
    /// <see cref="ReadInfo"/>; otherwise as for <see cref="Context.ReadPool"/>.</exception>
    public void Observe(string label = "")
    {
        var error = Native.NewError();
        Raw.Spill_observe(Open, label, ref error);
        HypomnesisException.ThrowOn(ref error);
    }

    /// <summary>Takes the device of a snapshot with <see cref="Collect.Pools"/> and
    /// <see cref="Collect.Processes"/>.</summary>
    /// <param name="snapshot">The snapshot.</param>
    /// <param name="label">Names the moment.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.Empty"/>: it has no values;
    /// <see cref="Status.NoDevice"/>.</exception>
    public void ObserveSnapshot(Snapshot snapshot, string label = "")
    {
        if (snapshot is null)
            throw new ArgumentNullException(nameof(snapshot));
        var error = Native.NewError();
        Raw.Spill_observe_snapshot(Open, snapshot.Handle, label, ref error);
        HypomnesisException.ThrowOn(ref error);
    }

    /// <summary>Takes values from elsewhere.</summary>
    /// <param name="sample">The values.</param>
    /// <param name="label">Names the moment.</param>
    public void Feed(SpillSample sample, string label = "")
    {
        if (sample is null)
            throw new ArgumentNullException(nameof(sample));
        var flags = (sample.LimitBytes is null ? 0u : (uint)Raw.SPILL_SAMPLE_HAS_LIMIT)
            | (sample.EvictedBytes is null ? 0u : (uint)Raw.SPILL_SAMPLE_HAS_EVICTED);
        var error = Native.NewError();
        Raw.Spill_feed(Open, flags, sample.MonotonicNs, sample.DedicatedBytes, sample.SharedBytes,
            sample.LimitBytes ?? 0, sample.EvictedBytes ?? 0, label, ref error);
        HypomnesisException.ThrowOn(ref error);
    }

    /// <summary>What it has seen.</summary>
    public SpillInfo ReadInfo()
    {
        var error = Native.NewError();
        return Native.Ask(Raw.Spill_info(Open, ref error), ref error, SpillInfo.From);
    }

    /// <summary>An episode by its number.</summary>
    /// <param name="number">From 0.</param>
    /// <exception cref="HypomnesisRangeException">It has not begun yet, or was dropped.</exception>
    public Episode ReadEpisode(ulong number)
    {
        var error = Native.NewError();
        return Native.Ask(Raw.Spill_episode(Open, number, ref error), ref error, Episode.From);
    }

    /// <summary>Frees it; fine more than once. Waits for no driver.</summary>
    public void Dispose()
    {
        closed = true;
        handle.Dispose();
    }

    private SpillHandle Open => closed ? throw new ObjectDisposedException(nameof(Spill)) : handle;
}
