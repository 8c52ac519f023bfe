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
  private static readonly TimeSpan Timeout = TimeSpan.FromMinutes(1);

  private static Sampler StartSampler(Context context, SamplerOptions? options = null,
                                      SnapshotOptions? snapshotOptions = null) {
    var sampler = context.CreateSampler(options, snapshotOptions);
    sampler.Start();
    return sampler;
    }

    private static Status CatchStatus(Action call) => Assert.Throws<HypomnesisException>(call).Status;

    [Fact]
    public void ASamplerReturnsSnapshotsLatestValuesAndPeaks()
    {
        using var context = Repository.Open("small.json");
        using var sampler = StartSampler(context);
        using var first = sampler.Next(Timeout);
        Assert.Equal(Collect.Devices | Collect.Pools | Collect.Telemetry, first!.Info.Collect);
        Assert.Equal(3221225472u, sampler.LatestPool(0)!.UsedBytes);
        Assert.Equal(3221225472u, sampler.ReadDevicePeak(0)!.UsedBytes);
        var info = sampler.ReadInfo();
        Assert.Equal((SamplerState.Running, 1ul, (Status?)Status.Ok), (info.State, info.TakenCount, info.LastStatus));
        Assert.Null(sampler.Next(TimeSpan.Zero));
        Assert.Equal(Status.NoDevice, CatchStatus(() => sampler.LatestPool(7)));
        Assert.Equal(Status.NoProcess, CatchStatus(() => sampler.ReadPeak(0, 1)));
    }

    [Fact]
    public void ASamplerBeforeItsStartHasNoValues()
    {
        using var context = Repository.Open("small.json");
        using var sampler = context.CreateSampler();
        Assert.Null(sampler.LatestPool(0));
        Assert.Null(sampler.LatestTelemetry(0));
        Assert.Null(sampler.ReadInfo().LastStatus);
        Assert.Equal(Status.State, CatchStatus(() => sampler.Next(Timeout)));
        Assert.Equal(Status.State, CatchStatus(() => sampler.Stop()));
        Assert.Equal(Status.State, CatchStatus(() => sampler.First()));
    }

    [Fact]
    public void SamplerOptionsAreApplied()
    {
        using var context = Repository.Open("small.json");
        using var peaks = StartSampler(context, new() { Flags = SamplerFlags.PeaksOnly });
        Assert.Equal(Status.State, CatchStatus(() => peaks.Next(Timeout)));
        Assert.Equal((int)SamplerFlags.PeaksOnly, Raw.SAMPLER_PEAKS_ONLY);
        Assert.Throws<HypomnesisRangeException>(() => context.CreateSampler(new() { Capacity = 65537 }));
        using var pools = StartSampler(context, snapshotOptions: new() { Collect = Collect.Pools });
        using var first = pools.Next(Timeout);
        Assert.Equal(Collect.Devices | Collect.Pools, first!.Info.Collect);
    }

    [Fact]
    public void IterationEndsWhenTheSamplerIsStopped()
    {
        using var context = Repository.Open("small.json");
        using var sampler = StartSampler(context, new() { Interval = TimeSpan.FromMilliseconds(5) });
        var last = 0ul;
        var count = 0;
        foreach (var snapshot in sampler)
        {
            using (snapshot)
            {
                Assert.True(snapshot.Info.MonotonicNs > last);
                last = snapshot.Info.MonotonicNs;
            }
            if (++count == 3)
                sampler.Stop();
        }
        Assert.True(count >= 3);
    }

    [Fact]
    public async Task DisposeWakesAWaitingThreadAfterTheContextIsGone()
    {
        var context = Repository.Open("small.json");
        var sampler = StartSampler(context, new() { Interval = TimeSpan.FromHours(1) });
        context.Dispose();
        sampler.Next(Timeout)!.Dispose();
        using var started = new ManualResetEventSlim();
        var waiter = Task.Run(() =>
        {
            started.Set();
            return Record.Exception(() => sampler.Next(Timeout));
        });
        started.Wait();
        Thread.Sleep(50);
        sampler.Dispose();
        sampler.Dispose();
        // A call that starts too late to wait fails with another error.
        var exception = await waiter;
        Assert.True(exception is ObjectDisposedException or HypomnesisException { Status: Status.State },
            $"{exception}");
        Assert.Throws<ObjectDisposedException>(() => sampler.ReadInfo());
    }
}
