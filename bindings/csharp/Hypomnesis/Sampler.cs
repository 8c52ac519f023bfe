// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections;
using System.Collections.Generic;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>A thread that takes snapshots on a schedule. <c>foreach</c> returns them until it is stopped.
/// Safe from any thread; it outlives its context. After <see cref="Dispose"/> its members throw
/// <see cref="ObjectDisposedException"/>.</summary>
public sealed class Sampler : IDisposable, IEnumerable<Snapshot>
{
    private readonly SamplerHandle handle;
    private volatile bool closed;

    internal Sampler(SamplerHandle handle) => this.handle = handle;

    /// <summary>Starts it; this works once.</summary>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: it was started before;
    /// <see cref="Status.Unsupported"/>: the context starts no threads; <see cref="Status.Limit"/>: the
    /// system cannot create one.</exception>
    public void Start()
    {
        var error = Native.NewError();
        Raw.Sampler_start(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Stops it permanently, and wakes callers that wait in <see cref="Next"/>. Waits for no
    /// driver.</summary>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: it was never started.</exception>
    public void Stop()
    {
        var error = Native.NewError();
        Raw.Sampler_stop(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>The oldest snapshot that was not pulled yet; null when none came in time.</summary>
    /// <param name="timeout">How long to wait for one.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="timeout"/> is less than 0.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: none will come, because it is not
    /// started, keeps none, or is stopped and all were pulled.</exception>
    public Snapshot? Next(TimeSpan timeout)
    {
        var pulled = Pull(Duration.Nanoseconds(timeout, nameof(timeout)), out var error);
        if (error.status == Raw.E_EMPTY)
            return null;
        HypomnesisException.ThrowIfFailed(ref error);
        return new Snapshot(pulled);
    }

    /// <summary>The handle for an event loop: a descriptor to poll, on Windows a HANDLE, ready whenever
    /// <see cref="Next"/> would not wait. The sampler owns it.</summary>
    /// <exception cref="HypomnesisException"><see cref="Status.Limit"/>: the system cannot create
    /// one.</exception>
    public long GetHandle()
    {
        var error = Native.NewError();
        var eventHandle = Raw.Sampler_handle(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return eventHandle;
    }

    /// <summary>Status of the sampler.</summary>
    public SamplerInfo ReadInfo()
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Sampler_info(OpenHandle, ref error), ref error, SamplerInfo.From);
    }

    /// <summary>The main pool of a device in the latest snapshot; null where there is none. Asks no driver and
    /// never waits, so that it can be called for every frame.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no snapshot has had
    /// it.</exception>
    public Pool? LatestPool(uint deviceIndex)
    {
        var error = Native.NewError();
        return Native.Take(Raw.Sampler_latest_pool(OpenHandle, deviceIndex, ref error), ref error, Pool.From);
    }

    /// <summary>Load, temperature and power in the same way.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no snapshot has had
    /// it.</exception>
    public Telemetry? LatestTelemetry(uint deviceIndex)
    {
        var error = Native.NewError();
        return Native.Take(Raw.Sampler_latest_telemetry(OpenHandle, deviceIndex, ref error), ref error, Telemetry.From);
    }

    /// <summary>The most memory that a process has used on a device.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="pid">The process.</param>
    /// <exception cref="HypomnesisRangeException"><paramref name="pid"/> is 0.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoProcess"/>: it was not seen there;
    /// <see cref="Status.NoDevice"/>.</exception>
    public Peak ReadPeak(uint deviceIndex, uint pid)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Sampler_peak(OpenHandle, deviceIndex, pid, ref error), ref error, Peak.From);
    }

    /// <summary>The most memory that was used on a device; null where no snapshot has had its values.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no snapshot has had
    /// it.</exception>
    public Peak? ReadDevicePeak(uint deviceIndex)
    {
        var error = Native.NewError();
        return Native.Take(Raw.Sampler_device_peak(OpenHandle, deviceIndex, ref error), ref error, Peak.From);
    }

    /// <summary>Returns the snapshots as they come, until the sampler is stopped and all were
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
            HypomnesisException.ThrowIfFailed(ref error);
            yield return new Snapshot(pulled);
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Stops it and frees it; calling it again is fine. Waits for no driver.</summary>
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
            // Another thread disposes it at the same time.
        }
        closed = true;
        handle.Dispose();
    }

    private SnapshotHandle Pull(ulong timeoutNs, out ErrorRecord error)
    {
        error = Native.NewError();
        var pulled = Raw.Sampler_next(OpenHandle, timeoutNs, ref error);
        if (error.status != Raw.OK)
            pulled.Dispose();
        return pulled;
    }

    private SamplerHandle OpenHandle =>
        closed ? throw new ObjectDisposedException(nameof(Sampler)) : handle;
}
