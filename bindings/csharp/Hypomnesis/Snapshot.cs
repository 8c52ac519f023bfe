// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>A snapshot of everything requested, copied whole: its properties are plain values that stay
/// after <see cref="Dispose"/>, and it outlives its context. The methods need it open and throw
/// <see cref="ObjectDisposedException"/> after that. Safe from any thread.</summary>
public sealed class Snapshot : IDisposable
{
    private readonly SnapshotHandle handle;
    private volatile bool closed;

    internal Snapshot(SnapshotHandle handle)
    {
        this.handle = handle;
        try
        {
            var reader = new SnapshotReader(handle);
            Info = reader.Info();
            Memory = reader.Memory();
            SystemMemory = reader.SystemMemory();
            Pools = Native.List(Info.PoolCount, reader.Pool);
            Metrics = Native.List(Info.MetricCount, reader.Metric);
            Devices = reader.Devices(Info.DeviceCount, Pools, Metrics);
            Usages = Native.List(Info.UsageCount, reader.Usage);
            Groups = Native.List(Info.GroupCount, reader.Group);
            Diagnostics = Native.List(Info.DiagnosticCount, reader.Diagnostic);
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    /// <summary>Counts, times and notes.</summary>
    public SnapshotInfo Info { get; }

    /// <summary>The caller's host memory; null when not requested or not available.</summary>
    public ProcessMemory? Memory { get; }

    /// <summary>The host's memory; null when not requested or not available.</summary>
    public SystemMemory? SystemMemory { get; }

    /// <summary>The devices by index, each with its pools, telemetry and own usage. A position in this list
    /// is not a <see cref="Device.Index"/>.</summary>
    public IReadOnlyList<Device> Devices { get; }

    /// <summary>The pools of all devices, by device index, the main pool first.</summary>
    public IReadOnlyList<Pool> Pools { get; }

    /// <summary>What each process uses on each device, by device index, then pid.</summary>
    public IReadOnlyList<Usage> Usages { get; }

    /// <summary>All single numbers that the sources report, by device index.</summary>
    public IReadOnlyList<Metric> Metrics { get; }

    /// <summary>What each control group uses on each device, by device index.</summary>
    public IReadOnlyList<Group> Groups { get; }

    /// <summary>Why something is missing.</summary>
    public IReadOnlyList<Diagnostic> Diagnostics { get; }

    /// <summary>Frees the native snapshot; calling it again is fine.</summary>
    public void Dispose()
    {
        closed = true;
        handle.Dispose();
    }

    /// <summary>The whole snapshot as one JSON object. Numbers are numbers, what is unknown is
    /// null.</summary>
    public string ToJson()
    {
        var error = Native.NewError();
        var text = Raw.Snapshot_json(OpenHandle, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return text;
    }

    /// <summary>Memory of a device; null when it has no such pool.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="kind">The kind of memory.</param>
    /// <param name="instance">From 1: a part of it; 0: the whole.</param>
    /// <exception cref="HypomnesisRangeException">There is no such kind.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: the snapshot does not have the
    /// device.</exception>
    public Pool? PoolOf(uint deviceIndex, PoolKind kind = PoolKind.Main, uint instance = 0)
    {
        var error = Native.NewError();
        return Native.Take(
            Raw.Snapshot_device_pool(OpenHandle, deviceIndex, (uint)kind, instance, ref error), ref error, Pool.From);
    }

    /// <summary>A device as one line, for instance "  GPU 0: free 13284 MiB / 16384 MiB [name]\n"; null when a
    /// value is not known.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="format">The values in the line.</param>
    /// <param name="flags">The form of the line.</param>
    /// <exception cref="HypomnesisRangeException">There is no such format.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: the snapshot does not have the
    /// device.</exception>
    public string? DeviceLine(uint deviceIndex, DeviceFormat format, LineFlags flags = LineFlags.None)
    {
        var error = Native.NewError();
        var text = Raw.Snapshot_device_line(OpenHandle, deviceIndex, (uint)format, (uint)flags, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return text;
    }

    /// <summary>Why a value of a device is missing; null when the subject was not requested.</summary>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="subject">One bit: the part that the value belongs to.</param>
    /// <param name="field">The presence bit of the value; 0: the subject as a whole.</param>
    /// <param name="metric">The metric, of <see cref="Collect.Metrics"/>.</param>
    /// <param name="metricInstance">Which one of several.</param>
    /// <param name="pool">The memory, of <see cref="Collect.Pools"/>.</param>
    /// <param name="poolInstance">From 1: a part of it; 0: the whole.</param>
    /// <param name="pid">The process, of <see cref="Collect.Processes"/>.</param>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: the snapshot does not have the
    /// device. <see cref="Status.Range"/>: not one bit, or an unknown pool or metric.</exception>
    /// <exception cref="HypomnesisArgumentException">The subject does not use an argument that is not 0.</exception>
    public Diagnostic? Reason(uint deviceIndex, Collect subject, ulong field = 0,
        MetricId metric = MetricId.Unknown, uint metricInstance = 0, PoolKind pool = PoolKind.Main,
        uint poolInstance = 0, uint pid = 0)
    {
        var error = Native.NewError();
        return Native.Take(
            Raw.Snapshot_reason(OpenHandle, (uint)subject, deviceIndex, field, pid, (uint)pool, poolInstance,
                (uint)metric, metricInstance, ref error),
            ref error, Diagnostic.From);
    }

    /// <summary>What changed on a device and on the host since an earlier snapshot; null when the two have
    /// nothing in common.</summary>
    /// <param name="before">The earlier snapshot.</param>
    /// <param name="deviceIndex">The device's index.</param>
    /// <exception cref="HypomnesisArgumentException"><paramref name="before"/> was taken
    /// later.</exception>
    /// <exception cref="HypomnesisException"><see cref="Status.NoDevice"/>: neither has the
    /// device.</exception>
    public Delta? DeltaSince(Snapshot before, uint deviceIndex)
    {
        var error = Native.NewError();
        return Native.Take(Raw.Snapshot_delta_since(OpenHandle, RequireOpen(before), deviceIndex, ref error), ref error,
            Delta.From);
    }

    /// <summary>The change as one line: "  label: RAM +100 MiB  |  VRAM +500 MiB [per-process]\n",
    /// without the second part when it is not known on one side; null when host memory is missing on one
    /// side.</summary>
    /// <param name="before">The earlier snapshot.</param>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="label">The beginning of the line.</param>
    /// <param name="flags">The form of the line.</param>
    /// <exception cref="ArgumentException">As for <see cref="DeltaSince"/>.</exception>
    /// <exception cref="HypomnesisException">As for <see cref="DeltaSince"/>.</exception>
    public string? DeltaLine(Snapshot before, uint deviceIndex, string label, LineFlags flags = LineFlags.None)
    {
        if (label is null)
            throw new ArgumentNullException(nameof(label));
        var error = Native.NewError();
        var text = Raw.Snapshot_delta_line(OpenHandle, RequireOpen(before), deviceIndex, label, (uint)flags, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return text;
    }

    /// <summary>Both values and the change, one line for RAM and one for VRAM. Otherwise as
    /// <see cref="DeltaLine"/>.</summary>
    /// <param name="before">The earlier snapshot.</param>
    /// <param name="deviceIndex">The device's index.</param>
    /// <param name="label">The beginning of the lines.</param>
    /// <param name="flags">The form of the lines.</param>
    /// <exception cref="ArgumentException">As for <see cref="DeltaSince"/>.</exception>
    /// <exception cref="HypomnesisException">As for <see cref="DeltaSince"/>.</exception>
    public string? BeforeAfterLines(Snapshot before, uint deviceIndex, string label,
        LineFlags flags = LineFlags.None)
    {
        if (label is null)
            throw new ArgumentNullException(nameof(label));
        var error = Native.NewError();
        var text = Raw.Snapshot_before_after_lines(OpenHandle, RequireOpen(before), deviceIndex, label,
            (uint)flags, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return text;
    }

    internal SnapshotHandle Handle => OpenHandle;

    private SnapshotHandle OpenHandle =>
        closed ? throw new ObjectDisposedException(nameof(Snapshot)) : handle;

    private static SnapshotHandle RequireOpen(Snapshot before) =>
        before is null ? throw new ArgumentNullException(nameof(before)) : before.OpenHandle;
}
