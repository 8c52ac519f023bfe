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

    internal Spill(SpillHandle handle) => this.handle = handle;

    /// <summary>Makes a detector without a context, which takes values by <see cref="Feed"/>, or snapshots.</summary>
    /// <param name="options">Its options; null: every default.</param>
    /// <param name="deviceIndex">The device of the snapshots.</param>
    /// <exception cref="HypomnesisRangeException">The capacity is above 65536.</exception>
    public static Spill CreateFed(SpillOptions? options = null, uint deviceIndex = 0)
    {
        Libraries.Ensure();
        options ??= new SpillOptions();
        var error = Native.NewError();
        var spill = Raw.lone_spill(deviceIndex, options.EpisodeCapacity, options.DedicatedThresholdBytes,
            options.GrowthBytes, ref error);
        return FromHandle(spill, ref error);
    }

    internal static Spill FromHandle(SpillHandle handle, ref ErrorRecord error)
    {
        if (error.status != Raw.OK)
            handle.Dispose();
        HypomnesisException.ThrowIfFailed(ref error);
        return new Spill(handle);
    }

    /// <summary>Reads the device.</summary>
    /// <param name="label">Name of the observation.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.Unsupported"/>: not reported by the device, see
    /// also <see cref="ReadInfo"/>; otherwise as for <see cref="Context.ReadPool"/>.</exception>
    public void Observe(string label = "")
    {
        var error = Native.NewError();
        Raw.Spill_observe(OpenHandle, label, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Reads the device from a snapshot with <see cref="Collect.Pools"/> and
    /// <see cref="Collect.Processes"/>.</summary>
    /// <param name="snapshot">The snapshot.</param>
    /// <param name="label">Name of the observation.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.Empty"/>: the snapshot has no values of it;
    /// <see cref="Status.NoDevice"/>.</exception>
    public void ObserveSnapshot(Snapshot snapshot, string label = "")
    {
        if (snapshot is null)
            throw new ArgumentNullException(nameof(snapshot));
        var error = Native.NewError();
        Raw.Spill_observe_snapshot(OpenHandle, snapshot.Handle, label, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Takes values from another source.</summary>
    /// <param name="sample">The values.</param>
    /// <param name="label">Name of the observation.</param>
    public void Feed(SpillSample sample, string label = "")
    {
        if (sample is null)
            throw new ArgumentNullException(nameof(sample));
        var flags = (sample.LimitBytes is null ? 0u : (uint)Raw.SPILL_SAMPLE_HAS_LIMIT)
            | (sample.EvictedBytes is null ? 0u : (uint)Raw.SPILL_SAMPLE_HAS_EVICTED);
        var error = Native.NewError();
        Raw.Spill_feed(OpenHandle, flags, Duration.Nanoseconds(sample.Monotonic, nameof(sample.Monotonic)), sample.DedicatedBytes, sample.SharedBytes,
            sample.LimitBytes ?? 0, sample.EvictedBytes ?? 0, label, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>What it has observed so far.</summary>
    public SpillInfo ReadInfo()
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Spill_info(OpenHandle, ref error), ref error, SpillInfo.From);
    }

    /// <summary>An episode by its number.</summary>
    /// <param name="number">From 0.</param>
    /// <exception cref="HypomnesisRangeException">It has not begun yet, or was dropped.</exception>
    public Episode ReadEpisode(ulong number)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Spill_episode(OpenHandle, number, ref error), ref error, Episode.From);
    }

    /// <summary>Frees it; calling it again is fine. Waits for no driver.</summary>
    public void Dispose()
    {
        closed = true;
        handle.Dispose();
    }

    private SpillHandle OpenHandle => closed ? throw new ObjectDisposedException(nameof(Spill)) : handle;
}
