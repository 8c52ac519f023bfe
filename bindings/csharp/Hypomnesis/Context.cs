// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>Sources of measurement, opened once and kept. Every member may be called from any thread at any
/// time, and waits at most for the deadline of <see cref="ContextOptions"/>. After
/// <see cref="Dispose"/> they throw <see cref="ObjectDisposedException"/>; snapshots stay.</summary>
public sealed class Context : IDisposable
{
    private readonly ContextHandle handle;
    private volatile bool closed;

    /// <summary>Makes a context. Touches no driver and starts no thread.</summary>
    /// <param name="options">Its options; null: every default.</param>
    /// <exception cref="DllNotFoundException">libhypomnesis is missing; the message lists where it was
    /// looked for and what to set.</exception>
    /// <exception cref="HypomnesisArgumentException">An unknown flag; or an environment variable has a value that
    /// <see cref="SetPath"/> would refuse.</exception>
    public Context(ContextOptions? options = null)
    {
        Libraries.Ensure();
        options ??= new ContextOptions();
        var error = Native.NewError();
        handle = Raw.new_Context((uint)options.Flags,
            Duration.Nanoseconds(options.Deadline, nameof(options.Deadline)),
            Duration.Nanoseconds(options.Stale, nameof(options.Stale)),
            Duration.Nanoseconds(options.OpenDeadline, nameof(options.OpenDeadline)),
            Duration.Nanoseconds(options.MaxAge, nameof(options.MaxAge)),
            Duration.Nanoseconds(options.IdleClose, nameof(options.IdleClose)),
            Duration.Nanoseconds(options.Rescan, nameof(options.Rescan)), options.BackendsOff,
            options.RescanPercent, options.DeviceClasses, ref error);
        if (error.status != Raw.OK)
            handle.Dispose();
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Closes the context; calling it again is fine. Calls in progress in other threads end
    /// first.</summary>
    public void Dispose()
    {
        closed = true;
        handle.Dispose();
    }

    /// <summary>Reads from another place than the default. The first reading shows whether it
    /// exists.</summary>
    /// <param name="path">The place.</param>
    /// <param name="value">An absolute path, or null for the default.</param>
    /// <exception cref="ArgumentException">Not absolute, empty, too long; or no such path.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.Unsupported"/>: the backend that uses it
    /// is not compiled in. <see cref="Status.State"/>: the context was read from already.</exception>
    public void SetPath(SourcePath path, string? value)
    {
        var error = Native.NewError();
        Raw.Context_set_path(OpenHandle, (uint)path, value!, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Status of a backend, which is opened if that was not tried yet. A backend that is absent, off or
    /// failing is reported by <see cref="BackendInfo.State"/>, not by an exception.</summary>
    /// <param name="backend">The backend.</param>
    /// <exception cref="HypomnesisRangeException">There is no such backend.</exception>
    public BackendInfo ReadBackend(Backend backend)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Context_backend(OpenHandle, (uint)backend, ref error), ref error,
            BackendInfo.From);
    }

    /// <summary>Everything that the backends of a context with <see cref="ContextFlags.Record"/> have read so far,
    /// as a machine file.</summary>
    /// <exception cref="HypomnesisException">The context does not record, reads a simulated machine, or read
    /// more than a machine file may have.</exception>
    public string GetRecording()
    {
        var error = Native.NewError();
        var text = Raw.Context_recording(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return text;
    }

    /// <summary>Ends the waiting of all calls, from any thread: until <see cref="Resume"/>, every call that
    /// waits for a driver or a snapshot, or would have to, fails with <see cref="Status.Cancelled"/>. Other
    /// calls work. The driver's call goes on; later readings use its answer.</summary>
    public void Cancel()
    {
        var error = Native.NewError();
        Raw.Context_cancel(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Lets calls wait again after <see cref="Cancel"/>.</summary>
    public void Resume()
    {
        var error = Native.NewError();
        Raw.Context_resume(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
    }

    /// <summary>Host memory of a process.</summary>
    /// <param name="pid">The process.</param>
    /// <param name="fields">The values to read.</param>
    /// <exception cref="HypomnesisRangeException"><paramref name="pid"/> is 0.</exception>
    /// <exception cref="HypomnesisArgumentException">An unknown bit in <paramref name="fields"/>.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoProcess"/>,
    /// <see cref="Status.Unsupported"/> (a kernel thread), <see cref="Status.Permission"/>,
    /// <see cref="Status.NoSource"/>: nothing at all could be read.</exception>
    public ProcessMemory ReadProcessMemory(uint pid, ProcessMemoryFields fields = ProcessMemoryFields.Cheap)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Context_process_memory(OpenHandle, pid, (ulong)fields, ref error), ref error,
            ProcessMemory.From);
    }

    /// <summary>Host memory of the calling process.</summary>
    /// <param name="fields">The values to read.</param>
    /// <exception cref="HypomnesisException">As for <see cref="ReadProcessMemory"/>.</exception>
    public ProcessMemory ReadOwnMemory(ProcessMemoryFields fields = ProcessMemoryFields.Cheap)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Context_own_memory(OpenHandle, (ulong)fields, ref error), ref error,
            ProcessMemory.From);
    }

    /// <summary>The host's memory and the limit on this process.</summary>
    /// <param name="fields">The values to read; <see cref="SystemMemoryFields.None"/>: all.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoSource"/>,
    /// <see cref="Status.Permission"/> or <see cref="Status.Backend"/>.</exception>
    public SystemMemory ReadSystemMemory(SystemMemoryFields fields = SystemMemoryFields.None)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Context_system_memory(OpenHandle, (ulong)fields, ref error), ref error,
            SystemMemory.From);
    }

    /// <summary>Asks every source for its devices; the other methods use the result. A count of 0: there
    /// certainly is none. A scan that fails changes nothing.</summary>
    /// <exception cref="HypomnesisException">No device is known and a source failed: <see cref="Status.Timeout"/>,
    /// <see cref="Status.Backend"/> (a driver or its library is broken, or they do not match),
    /// <see cref="Status.Permission"/>, <see cref="Status.NoSource"/> (no machine file).</exception>
    public DeviceScan Scan()
    {
        var error = Native.NewError();
        var count = Raw.Context_scan(OpenHandle, out var generation, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return new(count, generation);
    }

    /// <summary>The index of the device that a key names: "uuid:GPU-…", "pci:0000:01:00.0", "luid:…",
    /// "render:128", "driver:nvidia:0", in the last scan.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="ArgumentException">There is no such kind of key, or the value cannot be
    /// one.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no device has it.</exception>
    public uint FindDevice(string key)
    {
        var error = Native.NewError();
        var index = Raw.Context_find_device(OpenHandle, key, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return index;
    }

    /// <summary>As <see cref="FindDevice"/>, but false where no device has the key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="deviceIndex">The index, where a device has the key.</param>
    public bool TryFindDevice(string key, out uint deviceIndex)
    {
        var error = Native.NewError();
        deviceIndex = Raw.Context_find_device(OpenHandle, key, ref error);
        if (error.status == Raw.E_NO_DEVICE)
            return false;
        HypomnesisException.ThrowIfFailed(ref error);
        return true;
    }

    /// <summary>Identity of a device from the last scan. <see cref="Device.State"/> reports one that is lost or
    /// asleep.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="fields">The values to read; <see cref="DeviceFields.None"/>: all.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no device has had the
    /// index.</exception>
    public Device ReadDevice(uint deviceIndex, DeviceFields fields = DeviceFields.None)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Context_device(OpenHandle, deviceIndex, (ulong)fields, ref error), ref error,
            Device.From);
    }

    /// <summary>Memory of a device.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="kind">The kind of memory.</param>
    /// <param name="instance">From 1: a part of it; 0: the whole.</param>
    /// <param name="fields">The values to read; <see cref="PoolFields.None"/>: all of them.</param>
    /// <exception cref="HypomnesisRangeException">There is no such kind.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>,
    /// <see cref="Status.Unsupported"/> (no such pool), <see cref="Status.DeviceLost"/>,
    /// <see cref="Status.Asleep"/>, <see cref="Status.Permission"/>, <see cref="Status.Timeout"/>,
    /// <see cref="Status.Backend"/>, <see cref="Status.NoSource"/>.</exception>
    public Pool ReadPool(uint deviceIndex, PoolKind kind = PoolKind.Main, uint instance = 0,
        PoolFields fields = PoolFields.None)
    {
        var error = Native.NewError();
        return Native.TakeRequired(
            Raw.Context_pool(OpenHandle, deviceIndex, (uint)kind, instance, (ulong)fields, ref error), ref error,
            Pool.From);
    }

    /// <summary>Load, temperature and power of a device.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="fields">The values to read.</param>
    /// <exception cref="HypomnesisArgumentException">An unknown bit in <paramref name="fields"/>.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.Unsupported"/>: the device has none of them;
    /// otherwise as for <see cref="ReadPool"/>.</exception>
    public Telemetry ReadTelemetry(uint deviceIndex, TelemetryFields fields = TelemetryFields.Cheap)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Context_telemetry(OpenHandle, deviceIndex, (ulong)fields, ref error), ref error,
            Telemetry.From);
    }

    /// <summary>One number of the whole device, also one that takes long to read.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="metric">The number.</param>
    /// <param name="instance">Which one of several: see <see cref="MetricId"/>.</param>
    /// <exception cref="HypomnesisRangeException">There is no such metric.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.Unsupported"/>: not supported by this
    /// device or driver; otherwise as for <see cref="ReadPool"/>.</exception>
    public Metric ReadMetric(uint deviceIndex, MetricId metric, uint instance = 0)
    {
        var error = Native.NewError();
        return Native.TakeRequired(
            Raw.Context_metric(OpenHandle, deviceIndex, (uint)metric, instance, 0, ref error), ref error, Metric.From);
    }

    /// <summary>What a process uses on a device.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="pid">The process, as the driver counts it.</param>
    /// <param name="fields">The values to read; <see cref="UsageFields.None"/>: all.</param>
    /// <exception cref="HypomnesisRangeException"><paramref name="pid"/> is 0.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoProcess"/>: the driver lists no such
    /// process on the device; otherwise as for <see cref="ReadPool"/>.</exception>
    public Usage ReadUsage(uint deviceIndex, uint pid, UsageFields fields = UsageFields.None)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Context_usage(OpenHandle, deviceIndex, pid, (ulong)fields, ref error), ref error,
            Usage.From);
    }

    /// <summary>What the calling process uses on a device. 0 bytes is reported only where the driver's list
    /// certainly includes the caller.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="fields">The values to read; <see cref="UsageFields.None"/>: all.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoSource"/>: the list cannot be trusted;
    /// otherwise as for <see cref="ReadPool"/>.</exception>
    public Usage ReadOwnUsage(uint deviceIndex, UsageFields fields = UsageFields.None)
    {
        var error = Native.NewError();
        return Native.TakeRequired(Raw.Context_own_usage(OpenHandle, deviceIndex, (ulong)fields, ref error), ref error,
            Usage.From);
    }

    /// <summary>Takes a snapshot. For values that could not be read it has diagnostics; they are no
    /// exceptions.</summary>
    /// <param name="options">Its contents; null: every default.</param>
    /// <exception cref="ArgumentException">An index or a pid without its flag; pid 0; an unknown
    /// bit.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: no device has had the
    /// index.</exception>
    public Snapshot TakeSnapshot(SnapshotOptions? options = null)
    {
        options ??= new SnapshotOptions();
        var error = Native.NewError();
        var snapshot = Raw.Context_take(OpenHandle, (uint)options.Flags, (uint)options.Collect, options.DeviceIndex,
            options.Pid, Duration.Nanoseconds(options.Deadline, nameof(options.Deadline)), ref error);
        if (error.status != Raw.OK)
            snapshot.Dispose();
        HypomnesisException.ThrowIfFailed(ref error);
        return new Snapshot(snapshot);
    }

    /// <summary>As <see cref="TakeSnapshot"/>, on a thread of its own and none of the pool.</summary>
    /// <param name="options">Its contents; null: every default.</param>
    /// <param name="cancellationToken">Ends this wait at once. The driver's call goes on until its deadline, and
    /// later readings use its answer.</param>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async Task<Snapshot> TakeSnapshotAsync(SnapshotOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var result = new TaskCompletionSource<Snapshot>(TaskCreationOptions.RunContinuationsAsynchronously);
        new Thread(() =>
        {
            try
            {
                var snapshot = TakeSnapshot(options);
                if (!result.TrySetResult(snapshot))
                    snapshot.Dispose();
            }
            catch (Exception exception)
            {
                result.TrySetException(exception);
            }
        }) { IsBackground = true, Name = "hypomnesis snapshot" }.Start();
        using (cancellationToken.Register(() => result.TrySetCanceled(cancellationToken)))
            return await result.Task.ConfigureAwait(false);
    }

    /// <summary>The devices with their pools and telemetry, as a snapshot has them.</summary>
    /// <exception cref="HypomnesisException">As for <see cref="TakeSnapshot"/>.</exception>
    public IReadOnlyList<Device> ReadDevices()
    {
        using var snapshot = TakeSnapshot(new SnapshotOptions
        { Collect = Collect.Devices | Collect.Pools | Collect.Telemetry });
        return snapshot.Devices;
    }

    /// <summary>What each process uses on each device, as a snapshot has it.</summary>
    /// <exception cref="HypomnesisException">As for <see cref="TakeSnapshot"/>.</exception>
    public IReadOnlyList<Usage> ReadProcesses()
    {
        using var snapshot = TakeSnapshot(new SnapshotOptions { Collect = Collect.Processes });
        return snapshot.Usages;
    }

    /// <summary>Makes a sampler, which is not started yet.</summary>
    /// <param name="options">Its options; null: every default.</param>
    /// <param name="what">The contents of each snapshot; <see cref="Collect.Default"/>, and null, are devices,
    /// pools and telemetry.</param>
    /// <exception cref="HypomnesisRangeException">The capacity is above 65536.</exception>
    /// <exception cref="ArgumentException">As for <see cref="TakeSnapshot"/>.</exception>
    public Sampler CreateSampler(SamplerOptions? options = null, SnapshotOptions? what = null)
    {
        options ??= new SamplerOptions();
        what ??= new SnapshotOptions();
        var error = Native.NewError();
        var sampler = Raw.Context_sampler(OpenHandle, (uint)options.Flags,
            Duration.Nanoseconds(options.Interval, nameof(options.Interval)),
            Duration.Nanoseconds(options.ProcessInterval, nameof(options.ProcessInterval)),
            options.Capacity, (uint)what.Flags, (uint)what.Collect, what.DeviceIndex, what.Pid,
            Duration.Nanoseconds(what.Deadline, nameof(what.Deadline)), ref error);
        if (error.status != Raw.OK)
            sampler.Dispose();
        HypomnesisException.ThrowIfFailed(ref error);
        return new Sampler(sampler);
    }

    /// <summary>Makes a detector of device memory that moves to the host. No driver is asked yet.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="options">Its options; null: every default.</param>
    /// <exception cref="HypomnesisRangeException">The capacity is above 65536.</exception>
    public Spill CreateSpill(uint deviceIndex, SpillOptions? options = null)
    {
        options ??= new SpillOptions();
        var error = Native.NewError();
        var spill = Raw.Context_spill(OpenHandle, deviceIndex, options.EpisodeCapacity,
            options.DedicatedThresholdBytes, options.GrowthBytes, ref error);
        return Spill.FromHandle(spill, ref error);
    }

    /// <summary>Makes a tracker that also asks a device whether bytes would fit. Touches no driver.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="options">Its options; null: every default.</param>
    /// <exception cref="HypomnesisRangeException">The tag capacity is above 65536.</exception>
    public Tracker CreateTracker(uint deviceIndex, TrackerOptions? options = null)
    {
        var error = Native.NewError();
        var tracker = Raw.Context_tracker(OpenHandle, deviceIndex, Tracker.LimitFlags(options?.LimitBytes),
            options?.LimitBytes ?? 0, options?.TagCapacity ?? 0, ref error);
        if (error.status != Raw.OK)
            tracker.Dispose();
        HypomnesisException.ThrowIfFailed(ref error);
        return new Tracker(tracker);
    }

    private ContextHandle OpenHandle =>
        closed ? throw new ObjectDisposedException(nameof(Context)) : handle;
}
