// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Xunit;

namespace Hypomnesis.Tests;

/// <summary>Detectors of device memory that moves to the host.</summary>
public class SpillTest
{
    private const ulong MiB = 1 << 20;

    [Fact]
    public void ADetectorReportsASpillOfItsDevice()
    {
        using var context = Repository.Open("spill.json");
        using var spill = context.CreateSpill(0);
        spill.Observe("begin");
        Assert.Equal(SpillStates.Measurable, spill.ReadInfo().State);
        spill.Observe("step 1");
        Assert.Equal(SpillRules.Shared, spill.ReadInfo().Rules);
        spill.Observe("step 2");
        var info = spill.ReadInfo();
        Assert.Equal(SpillStates.Measurable | SpillStates.Ever, info.State);
        Assert.Equal((1ul, "step 1"), (info.EpisodeCount, info.FirstLabel));
        Assert.Equal((128 * MiB, 384 * MiB), (info.BaselineSharedBytes, info.PeakSharedBytes));
        Assert.Null(info.EvictedBytes);
        Assert.Equal(("step 2", TimeSpan.Zero), (spill.ReadEpisode(0).EndLabel, spill.ReadEpisode(0).Duration));
        Assert.Throws<HypomnesisRangeException>(() => spill.ReadEpisode(1));
        spill.Dispose();
        Assert.Throws<ObjectDisposedException>(() => spill.ReadInfo());
    }

    [Fact]
    public void AnUnmeasurableDeviceReportsWhyAndAcceptsFedSamples()
    {
        using var context = Repository.Open("spill.json");
        using var spill = context.CreateSpill(1);
        var failure = Assert.Throws<HypomnesisException>(() => spill.Observe());
        Assert.Equal(Status.Unsupported, failure.Status);
        Assert.Equal(Status.Unsupported, spill.ReadInfo().Status);
        Assert.NotEqual("", spill.ReadInfo().Message);
        Assert.Null(spill.ReadInfo().DedicatedBytes);
        spill.Feed(new SpillSample { EvictedBytes = 0 }, "calm");
        spill.Feed(new SpillSample { EvictedBytes = 256 * MiB }, "full");
        Assert.Equal(SpillRules.Evicted, spill.ReadInfo().Rules);
        Assert.Null(spill.ReadEpisode(0).EndLabel);
    }

    [Fact]
    public void ADetectorWithoutAContextObservesSnapshots()
    {
        using var context = Repository.Open("spill.json");
        using var spill = Spill.CreateFed();
        for (var i = 0; i < 3; i++)
        {
            using var snapshot = context.TakeSnapshot(
                new SnapshotOptions { Collect = Collect.Pools | Collect.Processes });
            spill.ObserveSnapshot(snapshot, "snapshot");
        }
        Assert.Equal((3ul, 1ul), (spill.ReadInfo().ObservationCount, spill.ReadInfo().EpisodeCount));
        Assert.Throws<HypomnesisRangeException>(
            () => Spill.CreateFed(new SpillOptions { EpisodeCapacity = 65537 }));
    }
}
