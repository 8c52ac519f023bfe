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
        var last = TimeSpan.Zero;
        var count = 0;
        foreach (var snapshot in sampler)
        {
            using (snapshot)
            {
                Assert.True(snapshot.Info.Monotonic > last);
                last = snapshot.Info.Monotonic;
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
        // Null, or a call that starts too late.
        var exception = await waiter;
        Assert.True(exception is null or ObjectDisposedException, $"{exception}");
        Assert.Throws<ObjectDisposedException>(() => sampler.ReadInfo());
    }

    [Fact]
    public void ATimeoutIsNotTheEnd()
    {
        using var context = Repository.Open("small.json");
        using var sampler = StartSampler(context, new() { Interval = TimeSpan.FromHours(1) });
        sampler.Next(Timeout)!.Dispose();
        Assert.Null(sampler.Next(TimeSpan.FromMilliseconds(5)));
        Assert.False(sampler.HasEnded);
        sampler.Stop();
        Assert.Null(sampler.Next(Timeout));
        Assert.True(sampler.HasEnded);
    }

    [Fact]
    public async Task AsynchronousIterationEndsWhenTheSamplerIsStopped()
    {
        using var context = Repository.Open("small.json");
        await using var sampler = StartSampler(context, new() { Interval = TimeSpan.FromMilliseconds(5) });
        var count = 0;
        await foreach (var snapshot in sampler.ReadAllAsync())
        {
            snapshot.Dispose();
            if (++count == 3)
                sampler.Stop();
        }
        Assert.True(count >= 3);
        Assert.Null(await sampler.NextAsync());
    }

    [Fact]
    public async Task ATokenEndsTheWaitOfItsCallerAlone()
    {
        using var context = Repository.Open("small.json");
        using var sampler = StartSampler(context, new() { Interval = TimeSpan.FromHours(1) });
        (await sampler.NextAsync())!.Dispose();
        using var source = new CancellationTokenSource();
        var cancelled = sampler.NextAsync(source.Token);
        var other = sampler.NextAsync();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        Assert.False(other.IsCompleted);
        Assert.Equal(SamplerState.Running, sampler.ReadInfo().State);
        sampler.Stop();
        Assert.Null(await other);
    }

    [Fact]
    public async Task ManyWaitersNeedNoThreadOfThePool()
    {
        using var context = Repository.Open("small.json");
        using var sampler = StartSampler(context, new() { Interval = TimeSpan.FromHours(1) });
        (await sampler.NextAsync())!.Dispose();
        var waiters = Enumerable.Range(0, 200).Select(_ => sampler.NextAsync()).ToArray();
        var watch = System.Diagnostics.Stopwatch.StartNew();
        await Task.Run(() => { });
        Assert.True(watch.Elapsed < TimeSpan.FromSeconds(5), $"an empty item took {watch.Elapsed}");
        sampler.Stop();
        Assert.All(await Task.WhenAll(waiters), Assert.Null);
    }

    [Fact]
    public async Task WaitersGetTheErrorOfASamplerThatWasNotStartedOrWhoseContextIsCancelled()
    {
        using var context = Repository.Open("small.json");
        using var idle = context.CreateSampler();
        Assert.Equal(Status.State, (await Assert.ThrowsAsync<HypomnesisException>(() => idle.NextAsync())).Status);
        using var sampler = StartSampler(context, new() { Interval = TimeSpan.FromHours(1) });
        (await sampler.NextAsync())!.Dispose();
        var waiter = sampler.NextAsync();
        context.Cancel();
        Assert.Equal(Status.Cancelled, (await Assert.ThrowsAsync<HypomnesisException>(() => waiter)).Status);
    }

    [Fact]
    public async Task ASnapshotThatCameAfterItsWaiterLeftGoesToTheNextCaller()
    {
        using var context = Repository.Open("small.json");
        using var sampler = StartSampler(context, new() { Interval = TimeSpan.FromMilliseconds(20), Capacity = 1000 });
        var taken = 0;
        while (sampler.ReadInfo().TakenCount < 20)
        {
            using var source = new CancellationTokenSource(TimeSpan.FromMilliseconds(1));
            try
            {
                (await sampler.NextAsync(source.Token))!.Dispose();
                taken++;
            }
            catch (OperationCanceledException)
            {
            }
        }
        sampler.Stop();
        while (sampler.Next(Timeout) is { } snapshot)
        {
            snapshot.Dispose();
            taken++;
        }
        Assert.Equal(sampler.ReadInfo().TakenCount, (ulong)taken);
    }

    [Fact]
    public async Task ASnapshotCanBeAwaitedAndLeft()
    {
        using var context = Repository.Open("small.json");
        using (var snapshot = await context.TakeSnapshotAsync())
            Assert.Single(snapshot.Devices);
        using var source = new CancellationTokenSource();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => context.TakeSnapshotAsync(cancellationToken: source.Token));
    }
}
