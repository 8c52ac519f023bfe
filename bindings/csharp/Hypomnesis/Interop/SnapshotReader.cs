// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Collections.ObjectModel;

namespace Hypomnesis.Interop;

/// <summary>Copies a snapshot's parts into plain values.</summary>
internal sealed class SnapshotReader
{
    private readonly SnapshotHandle handle;
    private ErrorRecord error = Native.NewError();

    internal SnapshotReader(SnapshotHandle handle) => this.handle = handle;

    internal SnapshotInfo Info() =>
        Native.TakeRequired(Raw.Snapshot_info(handle, ref error), ref error, SnapshotInfo.From);

    internal ProcessMemory? Memory() =>
        Native.Take(Raw.Snapshot_memory(handle, ref error), ref error, ProcessMemory.From);

    internal SystemMemory? SystemMemory() =>
        Native.Take(Raw.Snapshot_system(handle, ref error), ref error, Hypomnesis.SystemMemory.From);

    internal Pool Pool(uint i) =>
        Native.TakeRequired(Raw.Snapshot_pool(handle, i, ref error), ref error, Hypomnesis.Pool.From);

    internal Metric Metric(uint i) =>
        Native.TakeRequired(Raw.Snapshot_metric(handle, i, ref error), ref error, Hypomnesis.Metric.From);

    internal Group Group(uint i) =>
        Native.TakeRequired(Raw.Snapshot_group(handle, i, ref error), ref error,
            record => Hypomnesis.Group.From(record, text => Text(text, i)));

    internal Diagnostic Diagnostic(uint i) =>
        Native.TakeRequired(Raw.Snapshot_diagnostic(handle, i, ref error), ref error, Hypomnesis.Diagnostic.From);

    internal Usage Usage(uint i) =>
        Native.TakeRequired(Raw.Snapshot_usage(handle, i, ref error), ref error,
            record => Hypomnesis.Usage.From(record, text => Text(text, i)));

    private string? Text(uint text, uint i)
    {
        var value = Raw.Snapshot_text(handle, text, i, ref error);
        HypomnesisException.ThrowIfFailed(ref error);
        return value;
    }

    internal IReadOnlyList<Device> Devices(uint count, IReadOnlyList<Pool> pools, IReadOnlyList<Metric> metrics)
    {
        var pool = 0;
        var metric = 0;
        return Native.List(count, i => Device(i, pools, ref pool, metrics, ref metric));
    }

    /// <summary>All lists are sorted by device index, so that one pass is enough.</summary>
    private Device Device(uint i, IReadOnlyList<Pool> pools, ref int pool, IReadOnlyList<Metric> metrics,
        ref int metric)
    {
        var device = Native.TakeRequired(Raw.Snapshot_device(handle, i, ref error), ref error, Hypomnesis.Device.From);
        var ownPools = new List<Pool>();
        while (pool < pools.Count && pools[pool].DeviceIndex == device.Index)
            ownPools.Add(pools[pool++]);
        var ownMetrics = new List<Metric>();
        while (metric < metrics.Count && metrics[metric].DeviceIndex == device.Index)
            ownMetrics.Add(metrics[metric++]);
        return device with
        {
            Pools = new ReadOnlyCollection<Pool>(ownPools),
            Metrics = new ReadOnlyCollection<Metric>(ownMetrics),
            Telemetry = Native.Take(Raw.Snapshot_telemetry(handle, device.Index, ref error), ref error, Telemetry.From),
            OwnUsage = Native.Take(Raw.Snapshot_own_usage(handle, device.Index, ref error), ref error,
                Hypomnesis.Usage.From),
        };
    }
}
