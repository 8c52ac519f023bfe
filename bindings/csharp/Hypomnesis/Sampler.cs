// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections;
using System.Collections.Generic;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>A thread that takes snapshots on a schedule. <c>foreach</c> walks them until it is stopped.
/// Safe from any thread; it outlives its context. After <see cref="Dispose"/> its members throw
/// <see cref="ObjectDisposedException"/>.</summary>
public sealed class Sampler : IDisposable, IEnumerable<Snapshot>
{
    private readonly SamplerHandle handle;
    private volatile bool closed;

    internal Sampler(SamplerHandle made) => handle = made;

    /// <summary>Starts it, once in its life.</summary>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: it was started before;
    /// <see cref="Status.Unsupported"/>: the context starts no threads; <see cref="Status.Limit"/>: the
    /// system gives none.</exception>
    public void Start()
    {
        var error = Native.NewError();
        Raw.Sampler_start(Open, ref error);
        HypomnesisException.ThrowOn(ref error);
    }

    /// <summary>Stops it for good, and wakes those that wait in <see cref="Next"/>. Waits for no
    /// driver.</summary>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: it was never started.</exception>
    public void Stop()
    {
        var error = Native.NewError();
        Raw.Sampler_stop(Open, ref error);
        HypomnesisException.ThrowOn(ref error);
    }

    /// <summary>The oldest snapshot that was not pulled yet; null when none came in time.</summary>
    /// <param name="timeout">How long to wait for one.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="timeout"/> is less than 0.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: none will come. It is not started,
    /// it is stopped and all were pulled, or it keeps none.</exception>
    public Snapshot? Next(TimeSpan timeout)
    {
        var pulled = Pull(Duration.Nanoseconds(timeout, nameof(timeout)), out var error);
        if (error.status == Raw.E_EMPTY)
            return null;
        HypomnesisException.ThrowOn(ref error);
        return new Snapshot(pulled);
    }

    /// <summary>What an event loop waits for: a descriptor to poll, on Windows a HANDLE, ready whenever
    /// <see cref="Next"/> would not wait. It stays the sampler's.</summary>
    /// <exception cref="HypomnesisException"><see cref="Status.Limit"/>: the system cannot create
    /// one.</exception>
    public long GetHandle()
    {
        var error = Native.NewError();
        var handle = Raw.Sampler_handle(Open, ref error);
        HypomnesisException.ThrowOn(ref error);
        return handle;
    }

    /// <summary>Status of the sampler.</summary>
    public SamplerInfo ReadInfo()
    {
        var error = Native.NewError();
        return Native.Ask(Raw.Sampler_info(Open, ref error), ref error, SamplerInfo.From);
    }

    /// <summary>The main pool of a device as the latest snapshot has it, for every frame: asks no driver and
    /// never waits; null where there is none.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no snapshot has had
    /// it.</exception>
    public Pool? LatestPool(uint deviceIndex)
    {
        var error = Native.NewError();
        return Native.Take(Raw.Sampler_latest_pool(Open, deviceIndex, ref error), ref error, Pool.From);
    }

    /// <summary>Load, temperature and power in the same way.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no snapshot has had
    /// it.</exception>
    public Telemetry? LatestTelemetry(uint deviceIndex)
    {
        var error = Native.NewError();
        return Native.Take(Raw.Sampler_latest_telemetry(Open, deviceIndex, ref error), ref error, Telemetry.From);
    }

    /// <summary>The highest that a process has used of a device.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="pid">The process.</param>
    /// <exception cref="HypomnesisRangeException"><paramref name="pid"/> is 0.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoProcess"/>: it was not seen there;
    /// <see cref="Status.NoDevice"/>.</exception>
    public Peak ReadPeak(uint deviceIndex, uint pid)
    {
        var error = Native.NewError();
        return Native.Ask(Raw.Sampler_peak(Open, deviceIndex, pid, ref error), ref error, Peak.From);
    }

    /// <summary>The highest that was used of a device; null where no snapshot has had its values.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no snapshot has had
    /// it.</exception>
    public Peak? ReadDevicePeak(uint deviceIndex)
    {
        var error = Native.NewError();
        return Native.Take(Raw.Sampler_device_peak(Open, deviceIndex, ref error), ref error, Peak.From);
    }

    /// <summary>Walks the snapshots as they come, until the sampler is stopped and all were
    /// pulled.</summary>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: it was never started, or keeps
    /// none.</exception>
    public IEnumerator<Snapshot> GetEnumerator()
    {
        while (true)
        {
            var pulled = Pull(ulong.MaxValue, out var error);
            if (error.status == Raw.E_EMPTY)
                continue;
            if (error.status == Raw.E_STATE && ReadInfo().State == SamplerState.Stopped)
                yield break;
            HypomnesisException.ThrowOn(ref error);
            yield return new Snapshot(pulled);
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Stops it and frees it; fine more than once. Waits for no driver.</summary>
    public void Dispose()
    {
        if (closed)
            return;
        var error = Native.NewError();
        try
        {
            Raw.Sampler_stop(handle, ref error);
        }
        catch (ObjectDisposedException)
        {
            // Another thread disposes it, too.
        }
        closed = true;
        handle.Dispose();
    }

    private SnapshotHandle Pull(ulong timeoutNs, out ErrorRecord error)
    {
        error = Native.NewError();
        var pulled = Raw.Sampler_next(Open, timeoutNs, ref error);
        if (error.status != Raw.OK)
            pulled.Dispose();
        return pulled;
    }

    private SamplerHandle Open =>
        closed ? throw new ObjectDisposedException(nameof(Sampler)) : handle;
}
