// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Hypomnesis.Interop;
using Xunit;

namespace Hypomnesis.Tests;

public class SamplerTest
{
  private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

  private static Sampler Running(Context context, SamplerOptions? options = null,
                                 SnapshotOptions? what = null) {
    var sampler = context.CreateSampler(options, what);
    sampler.Start();
    return sampler;
    }

    private static Status StatusOf(Action call) => Assert.Throws<HypomnesisException>(call).Status;

    [Fact]
    public void ItGivesSnapshotsLatestFiguresAndPeaks()
    {
        using var context = Repository.Open("small.json");
        using var sampler = Running(context);
        using var first = sampler.Next(Patience);
        Assert.Equal(Collect.Devices | Collect.Pools | Collect.Telemetry, first!.Info.Collect);
        Assert.Equal(3221225472u, sampler.LatestPool(0)!.UsedBytes);
        Assert.Equal(3221225472u, sampler.ReadDevicePeak(0)!.UsedBytes);
        var info = sampler.ReadInfo();
        Assert.Equal((SamplerState.Running, 1ul, (Status?)Status.Ok), (info.State, info.TakenCount, info.LastStatus));
        Assert.Null(sampler.Next(TimeSpan.Zero));
        Assert.Equal(Status.NoDevice, StatusOf(() => sampler.LatestPool(7)));
        Assert.Equal(Status.NoProcess, StatusOf(() => sampler.ReadPeak(0, 1)));
    }

    [Fact]
    public void BeforeTheStartThereIsNothing()
    {
        using var context = Repository.Open("small.json");
        using var sampler = context.CreateSampler();
        Assert.Null(sampler.LatestPool(0));
        Assert.Null(sampler.LatestTelemetry(0));
        Assert.Null(sampler.ReadInfo().LastStatus);
        Assert.Equal(Status.State, StatusOf(() => sampler.Next(Patience)));
        Assert.Equal(Status.State, StatusOf(() => sampler.Stop()));
        Assert.Equal(Status.State, StatusOf(() => sampler.First()));
    }

    [Fact]
    public void OptionsArrive()
    {
        using var context = Repository.Open("small.json");
        using var peaks = Running(context, new() { Flags = SamplerFlags.PeaksOnly });
        Assert.Equal(Status.State, StatusOf(() => peaks.Next(Patience)));
        Assert.Equal((int)SamplerFlags.PeaksOnly, Raw.SAMPLER_PEAKS_ONLY);
        Assert.Throws<HypomnesisRangeException>(() => context.CreateSampler(new() { Capacity = 65537 }));
        using var pools = Running(context, what: new() { Collect = Collect.Pools });
        using var first = pools.Next(Patience);
        Assert.Equal(Collect.Devices | Collect.Pools, first!.Info.Collect);
    }

    [Fact]
    public void AWalkEndsOnceItIsStopped()
    {
        using var context = Repository.Open("small.json");
        using var sampler = Running(context, new() { Interval = TimeSpan.FromMilliseconds(5) });
        var last = 0ul;
        var taken = 0;
        foreach (var snapshot in sampler)
        {
            using (snapshot)
            {
                Assert.True(snapshot.Info.MonotonicNs > last);
                last = snapshot.Info.MonotonicNs;
            }
            if (++taken == 3)
                sampler.Stop();
        }
        Assert.True(taken >= 3);
    }

    [Fact]
    public async Task DisposingWakesOneThatWaitsAndOutlivesTheContext()
    {
        var context = Repository.Open("small.json");
        var sampler = Running(context, new() { Interval = TimeSpan.FromHours(1) });
        context.Dispose();
        sampler.Next(Patience)!.Dispose();
        using var started = new ManualResetEventSlim();
        var waiter = Task.Run(() =>
        {
            started.Set();
            return Record.Exception(() => sampler.Next(Patience));
        });
        started.Wait();
        Thread.Sleep(50);
        sampler.Dispose();
        sampler.Dispose();
        // One that comes too late to wait gets an error.
        var told = await waiter;
        Assert.True(told is ObjectDisposedException or HypomnesisException { Status: Status.State }, $"{told}");
        Assert.Throws<ObjectDisposedException>(() => sampler.ReadInfo());
    }
}
