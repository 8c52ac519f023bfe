// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>A thread that takes snapshots on a schedule. <c>foreach</c> returns them until it is stopped.
/// Safe from any thread; it outlives its context. After <see cref="Dispose"/> its members throw
/// <see cref="ObjectDisposedException"/>.</summary>
public sealed class Sampler : IDisposable, IEnumerable<Snapshot>
#if NET
    , IAsyncDisposable
#endif
{
    private const ulong SliceNs = 100_000_000;

    private readonly SamplerHandle handle;
    private volatile bool closed;
    // Callers of NextAsync, oldest first, and the one thread that waits for all of them while there are any.
    private readonly LinkedList<TaskCompletionSource<Snapshot?>> waiters = new();
    private readonly Queue<Snapshot> unclaimed = new();
    private bool isWaiting;

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

    /// <summary>Whether no snapshot follows, because it was stopped and all were pulled.</summary>
    public bool HasEnded
    {
        get
        {
            lock (waiters)
                if (unclaimed.Count > 0)
                    return false;
            var info = ReadInfo();
            return info.State == SamplerState.Stopped && info.Pending == 0;
        }
    }

    /// <summary>The oldest snapshot that was not pulled yet; null when none came in time, or none will come: see
    /// <see cref="HasEnded"/>.</summary>
    /// <param name="timeout">How long to wait for one.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="timeout"/> is less than 0.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: it is not started, or keeps
    /// none.</exception>
    public Snapshot? Next(TimeSpan timeout)
    {
        var timeoutNs = Duration.Nanoseconds(timeout, nameof(timeout));
        lock (waiters)
            if (unclaimed.Count > 0)
                return unclaimed.Dequeue();
        var pulled = Pull(timeoutNs, out var error);
        if (error.status == Raw.E_EMPTY || IsEnd(error))
            return null;
        HypomnesisException.ThrowIfFailed(ref error);
        return new Snapshot(pulled);
    }

    /// <summary>The oldest snapshot that was not pulled yet; null at the end, when the sampler was stopped and all
    /// were pulled. Any number of callers may wait: one thread of the sampler waits for all, and none of the
    /// pool.</summary>
    /// <param name="cancellationToken">Ends this wait alone.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.State"/>: it is not started, or keeps none;
    /// <see cref="Status.Cancelled"/>: its context was cancelled.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async Task<Snapshot?> NextAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        _ = OpenHandle;
        var waiter = new TaskCompletionSource<Snapshot?>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (waiters)
        {
            if (unclaimed.Count > 0)
                return unclaimed.Dequeue();
            waiters.AddLast(waiter);
            if (!isWaiting)
            {
                isWaiting = true;
                new Thread(WaitForAll) { IsBackground = true, Name = "hypomnesis sampler" }.Start();
            }
        }
        using (cancellationToken.Register(() => Forget(waiter, cancellationToken)))
            return await waiter.Task.ConfigureAwait(false);
    }

    private void Forget(TaskCompletionSource<Snapshot?> waiter, CancellationToken token)
    {
        lock (waiters)
            waiters.Remove(waiter);
        waiter.TrySetCanceled(token);
    }

    private void WaitForAll()
    {
        while (true)
        {
            Snapshot? snapshot = null;
            Exception? failure = null;
            var isEmpty = false;
            try
            {
                var pulled = Pull(SliceNs, out var error);
                isEmpty = error.status == Raw.E_EMPTY;
                if (!isEmpty && !IsEnd(error))
                {
                    HypomnesisException.ThrowIfFailed(ref error);
                    snapshot = new Snapshot(pulled);
                }
            }
            catch (Exception exception)
            {
                failure = exception;
            }
            if (!Serve(snapshot, failure, isEmpty))
                return;
        }
    }

    /// <summary>Gives a snapshot to the oldest waiter, the end or a failure to all of them. False: none is
    /// left.</summary>
    private bool Serve(Snapshot? snapshot, Exception? failure, bool isEmpty)
    {
        lock (waiters)
        {
            if (snapshot is not null && waiters.Count == 0)
                unclaimed.Enqueue(snapshot);
            while (waiters.Count > 0 && !isEmpty)
            {
                var waiter = waiters.First!.Value;
                waiters.RemoveFirst();
                if (failure is not null)
                    waiter.TrySetException(failure);
                else
                    waiter.TrySetResult(snapshot);
                if (snapshot is not null)
                    break;
            }
            isWaiting = waiters.Count > 0;
            return isWaiting;
        }
    }

#if NET
    /// <summary>The snapshots as they come, until the sampler is stopped and all were pulled.</summary>
    /// <param name="cancellationToken">Ends this iteration alone.</param>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async IAsyncEnumerable<Snapshot> ReadAllAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        while (await NextAsync(cancellationToken).ConfigureAwait(false) is { } snapshot)
            yield return snapshot;
    }

    /// <summary>As <see cref="Dispose"/>, which never waits.</summary>
    public ValueTask DisposeAsync()
    {
        Dispose();
        return default;
    }
#endif

    /// <summary>For an event loop of one's own: a descriptor to poll, on Windows the HANDLE of an event, ready whenever
    /// <see cref="Next"/> would not wait. The sampler owns and closes it: do not put it into a
    /// <see cref="SafeHandle"/> that does.</summary>
    /// <exception cref="HypomnesisException"><see cref="Status.Limit"/>: the system cannot create
    /// one.</exception>
    public long GetPollDescriptor()
    {
        var error = Native.NewError();
        var descriptor = Raw.Sampler_handle(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return descriptor;
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
            if (Next(Duration.Unlimited) is { } snapshot)
                yield return snapshot;
            else if (HasEnded)
                yield break;
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
        lock (waiters)
            while (unclaimed.Count > 0)
                unclaimed.Dequeue().Dispose();
    }

    private bool IsEnd(ErrorRecord error) => error.status == Raw.E_STATE && ReadInfo().State == SamplerState.Stopped;

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
