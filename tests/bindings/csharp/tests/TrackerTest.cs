// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Xunit;

namespace Hypomnesis.Tests;

/// <summary>Trackers.</summary>
public class TrackerTest
{
    [Fact]
    public void ATrackerEnforcesItsLimit()
    {
        using var tracker = new Tracker(new TrackerOptions { LimitBytes = 1000 });
        tracker.Allocate(900);
        var exception = Assert.Throws<HypomnesisException>(() => tracker.Allocate(200));
        Assert.Equal(Status.Limit, exception.Status);
        Assert.True(tracker.WouldFit(100));
        Assert.False(tracker.WouldFit(101));
        tracker.Release(400);
        Assert.Throws<HypomnesisRangeException>(() => tracker.Release(501));
        Assert.Equal(
            new TrackerInfo { LimitBytes = 1000, AllocatedBytes = 500, PeakBytes = 900, RefusedCount = 1 },
            tracker.ReadInfo());
        Assert.Throws<HypomnesisException>(() => tracker.SetLimit(499));
        tracker.SetLimit(null);
        tracker.Reset();
        Assert.Equal(new TrackerInfo(), tracker.ReadInfo());
    }

    [Fact]
    public void ALimitOfZeroAllowsNothing()
    {
        using var tracker = new Tracker(new TrackerOptions { LimitBytes = 0 });
        Assert.Throws<HypomnesisException>(() => tracker.Allocate(1));
        using var other = new Tracker();
        other.SetLimit(0);
        Assert.Throws<HypomnesisException>(() => other.Allocate(1));
    }

    [Fact]
    public void ATagCountsItsOwnBytes()
    {
        using var tracker = new Tracker();
        var weights = tracker.Tag("weights");
        Assert.Equal(weights, tracker.Tag("weights"));
        tracker.Allocate(300, weights);
        tracker.Release(100, weights);
        Assert.Equal(new Tag { Number = weights, AllocatedBytes = 200, PeakBytes = 300, Name = "weights" },
            tracker.ReadTag(weights));
        Assert.Throws<HypomnesisRangeException>(() => tracker.Allocate(1, 2));
    }

    [Fact]
    public void ALinkedTrackerReadsItsDevice()
    {
        using var context = Repository.Open("small.json");
        var pool = context.ReadPool(0);
        var usable = pool.UsableBytes ?? pool.FreeBytes!.Value;
        using var tracker = context.CreateTracker(0);
        context.Dispose();
        Assert.Equal(0u, tracker.ReadInfo().DeviceIndex);
        Assert.True(tracker.WouldFit(usable));
        Assert.False(tracker.WouldFit(usable + 1));
    }

    [Fact]
    public void CallsOnADisposedTrackerThrowObjectDisposed()
    {
        var tracker = new Tracker();
        tracker.Dispose();
        tracker.Dispose();
        Assert.Throws<ObjectDisposedException>(() => tracker.Allocate(1));
    }
}
