// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using Hypomnesis;

namespace Agent;

internal sealed class Requests : IDisposable
{
    private readonly Dictionary<string, Snapshot> snapshots = new();
    private readonly Dictionary<string, Sampler> samplers = new();
    private Tracker? tracker;
    private Spill? spill;
    private string[] words = [];
    private Context? context;

    private Context Context => context ?? throw new ObjectDisposedException(nameof(Context));

    public void Dispose() => context?.Dispose();

    internal void Answer(string[] request, TextWriter output)
    {
        words = request;
        switch (words[0])
        {
            case "open": Open(); break;
            case "close": context?.Dispose(); break;
            case "set_path": SetPath(Context, (SourcePath)U32(1), words[2]); break;
            case "take": Take(); break;
            case "drop": Drop(words[1]); break;
            case "track": Track(); break;
            case "track_allocate": tracker!.Allocate(U64(1), U32(2)); break;
            case "track_limit": tracker!.SetLimit(words[1] != "-" ? U64(1) : null); break;
            case "track_reset": tracker!.Reset(); break;
            case "track_release": tracker!.Release(U64(1), U32(2)); break;
            case "spill": spill = Context.CreateSpill(U32(1), ParseSpillOptions(2)); break;
            case "spill_fed": spill = Spill.CreateFed(ParseSpillOptions(1)); break;
            case "spill_observe": spill!.Observe(words[1]); break;
            case "spill_snapshot": spill!.ObserveSnapshot(FindSnapshot(1), words[2]); break;
            case "spill_feed": FeedSpill(); break;
            case "sample_idle": SampleIdle(); break;
            case "sample": SampleIdle(); samplers[words[1]].Start(); break;
            case "sample_stop": samplers[words[1]].Stop(); break;
            case "sample_drop": samplers[words[1]].Dispose(); break;
            default: WriteAnswer(output); break;
        }
    }

    private void WriteAnswer(TextWriter output)
    {
        if (ReadValue() is var (isValue, value) && isValue)
            output.WriteLine($"value\t{AnswerText.Format(value)}");
        else
            AnswerText.WriteRecord(ReadRecord(), output);
    }

    private (bool, object?) ReadValue() => words[0] switch
    {
        "scan" => (true, Context.Scan().Count),
        "scan_generation" => (true, Context.Scan().Generation),
        "sample_next" => (true, SampleNext()),
        "estimate_tensor" => (true, Estimate.Tensor([U64(1), U64(2)], Estimate.DtypeFrom(words[3]))),
        "estimate_cache" => (true, Estimate.Cache(new Cache
        {
            Kind = (CacheKind)U32(1), Dtype = Dtype.F16, Layers = U64(2), KvHeads = U64(3), RowDim = U64(4),
        }, U64(5))),
        "estimate_packed" => (true, Estimate.Packed([U64(1), U64(2)], new Packing
        {
            Dtype = Estimate.DtypeFrom(words[3]), GroupSize = U32(4), GroupBits = U32(5),
        })),
        "estimate_attention" => (true, Estimate.Attention(new Attention
        {
            Flags = U32(5) != 0 ? AttentionFlags.Fused : AttentionFlags.None, Dtype = Dtype.F16,
            Heads = U64(1), KvHeads = U64(2), Sequence = U64(3), HeadDim = U64(4),
        })),
        "estimate_overhead" => (true, Estimate.Overhead(U64(1), U32(2))),
        "estimate_sum" => (true, Estimate.Sum(U64(1), U64(2))),
        "dtype_bits" => (true, Estimate.BitsOf(Estimate.DtypeFrom(words[1]))),
        "track_tag" => (true, tracker!.Tag(words[1])),
        "track_fits" => (true, tracker!.WouldFit(U64(1)) ? 1u : 0u),
        "find_device" => (true, Context.FindDevice(words[1])),
        "process_name" => (true, FindSnapshot(1).Usages[I32(2)].ProcessName),
        "process_command" => (true, FindSnapshot(1).Usages[I32(2)].ProcessCommand),
        "process_container" => (true, FindSnapshot(1).Usages[I32(2)].ProcessContainer),
        "group_name" => (true, FindSnapshot(1).Groups[I32(2)].Name),
        "json" => (true, FindSnapshot(1).ToJson()),
        "device_line" => (true, FindSnapshot(1).DeviceLine(U32(2), (DeviceFormat)U32(3))),
        "delta_line" => (true, FindSnapshot(2).DeltaLine(FindSnapshot(1), U32(3), words[4])),
        "before_after" => (true, FindSnapshot(2).BeforeAfterLines(FindSnapshot(1), U32(3), words[4])),
        "format_bytes" => (true, Library.FormatBytes(ulong.Parse(words[1], CultureInfo.InvariantCulture))),
        "status_name" => (true, Library.NameOf((Status)I32(1))),
        "backend_name" => (true, Library.NameOf((Backend)U32(1))),
        "reason_name" => (true, Library.NameOf((Reason)U32(1))),
        "metric_name" => (true, Library.NameOf((MetricId)U32(1))),
        "metric_unit" => (true, Library.UnitOf((MetricId)U32(1))),
        "metric_instance_name" => (true, Library.InstanceNameOf((MetricId)U32(1), U32(2))),
        "backend_available" => (true, Library.Has((Backend)U32(1))),
        "feature" => (true, Library.Has((Feature)U32(1))),
        "version" => (true, Library.Version),
        _ => (false, null),
    };

    private object? ReadRecord() => words[0] switch
    {
        "backend" => Context.ReadBackend((Backend)U32(1)),
        "own_memory" => Context.ReadOwnMemory((ProcessMemoryFields)U32(1)),
        "process_memory" => Context.ReadProcessMemory(U32(1), (ProcessMemoryFields)U32(2)),
        "system_memory" => Context.ReadSystemMemory(),
        "device" => Context.ReadDevice(U32(1)),
        "pool" => Context.ReadPool(U32(1), (PoolKind)U32(2)),
        "telemetry" => Context.ReadTelemetry(U32(1), (TelemetryFields)U32(2)),
        "metric" => Context.ReadMetric(U32(1), (MetricId)U32(2), U32(3)),
        "usage" => Context.ReadUsage(U32(1), U32(2)),
        "own_usage" => Context.ReadOwnUsage(U32(1)),
        "info" => FindSnapshot(1).Info,
        "memory" => FindSnapshot(1).Memory,
        "system" => FindSnapshot(1).SystemMemory,
        "snapshot_device" => FindSnapshot(1).Devices[I32(2)],
        "snapshot_telemetry" => FindSnapshot(1).Devices[I32(2)].Telemetry,
        "self" => FindSnapshot(1).Devices[I32(2)].OwnUsage,
        "snapshot_pool" => FindSnapshot(1).Pools[I32(2)],
        "snapshot_usage" => FindSnapshot(1).Usages[I32(2)],
        "snapshot_metric" => FindSnapshot(1).Metrics[I32(2)],
        "snapshot_group" => FindSnapshot(1).Groups[I32(2)],
        "diagnostic" => FindSnapshot(1).Diagnostics[I32(2)],
        "reason" => FindSnapshot(1).Reason(U32(2), (Collect)U32(3), U32(4), (MetricId)U32(5), U32(6),
            (PoolKind)U32(7), 0, U32(8)),
        "delta" => FindSnapshot(2).DeltaSince(FindSnapshot(1), U32(3)),
        "track_info" => tracker!.ReadInfo(),
        "track_read_tag" => tracker!.ReadTag(U32(1)),
        "spill_info" => spill!.ReadInfo(),
        "spill_episode" => spill!.ReadEpisode(U64(1)),
        "sample_info" => samplers[words[1]].ReadInfo(),
        "sample_pool" => samplers[words[1]].LatestPool(U32(2)),
        "sample_telemetry" => samplers[words[1]].LatestTelemetry(U32(2)),
        "sample_peak" => samplers[words[1]].ReadPeak(U32(2), U32(3)),
        "sample_device_peak" => samplers[words[1]].ReadDevicePeak(U32(2)),
        _ => throw new InvalidOperationException(words[0]),
    };

    private void Open()
    {
        context?.Dispose();
        context = new Context(new ContextOptions {
          Flags = (ContextFlags)U32(1),
          Deadline = TimeSpan.FromMilliseconds(U32(2)),
          MaxAge = TimeSpan.FromMilliseconds(U32(3)),
        });
        if (words[4] != "-")
            context.SetPath(SourcePath.Simulation, words[4]);
    }

    private static void SetPath(Context context, SourcePath path, string word) =>
        context.SetPath(path, word == "-" ? null : word);

    private void Take()
    {
        var options = new SnapshotOptions
        {
            Flags = (SnapshotFlags)U32(2),
            Collect = (Collect)U32(3),
            DeviceIndex = U32(4),
            Pid = U32(5),
        };
        var snapshot = Context.TakeSnapshot(options);
        Drop(words[1]);
        snapshots[words[1]] = snapshot;
    }

    private void Track() =>
        tracker = Context.CreateTracker(0, new TrackerOptions { LimitBytes = U64(1) });

    private SpillOptions ParseSpillOptions(int first) => new()
    {
        EpisodeCapacity = U32(first), DedicatedThresholdBytes = U64(first + 1), GrowthBytes = U64(first + 2),
    };

    // Words: time, dedicated, shared, limit, evicted, label; an unknown limit or evicted is `-`.
    private void FeedSpill() => spill!.Feed(new SpillSample
    {
        Monotonic = TimeSpan.FromTicks((long)U64(1) / 100),
        DedicatedBytes = U64(2),
        SharedBytes = U64(3),
        LimitBytes = words[4] == "-" ? null : U64(4),
        EvictedBytes = words[5] == "-" ? null : U64(5),
    }, words[6]);

    private void SampleIdle() => samplers[words[1]] = Context.CreateSampler(
        new SamplerOptions { Interval = TimeSpan.FromHours(1) }, new SnapshotOptions { Collect = (Collect)U32(2) });

    private string SampleNext()
    {
        var sampler = samplers[words[1]];
        var snapshot = sampler.Next(TimeSpan.FromMilliseconds(U32(3)));
        Drop(words[2]);
        if (snapshot is null)
            return sampler.HasEnded ? "end" : "timeout";
        snapshots[words[2]] = snapshot;
        return "sample";
    }

    private void Drop(string name)
    {
        if (snapshots.Remove(name, out var snapshot))
            snapshot.Dispose();
    }

    /// <summary>Throws for a dropped snapshot: its values alone would stay readable.</summary>
    private Snapshot FindSnapshot(int word) =>
        snapshots.TryGetValue(words[word], out var snapshot)
            ? snapshot : throw new ObjectDisposedException(nameof(Snapshot));

    private ulong U64(int word) => ulong.Parse(words[word], CultureInfo.InvariantCulture);

    private uint U32(int word) => uint.Parse(words[word], CultureInfo.InvariantCulture);

    private int I32(int word) => int.Parse(words[word], CultureInfo.InvariantCulture);
}
