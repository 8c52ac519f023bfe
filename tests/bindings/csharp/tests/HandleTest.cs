// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Hypomnesis.Tests;

public class HandleTest
{
    [Fact]
    public void ASnapshotOutlivesItsContext()
    {
        var context = Repository.Open("eight.json");
        using var snapshot = context.TakeSnapshot();
        context.Dispose();
        Assert.Contains("\"devices\"", snapshot.ToJson());
    }

    [Fact]
    public void DisposingTwiceIsFine()
    {
        var context = Repository.Open("small.json");
        var snapshot = context.TakeSnapshot();
        context.Dispose();
        context.Dispose();
        snapshot.Dispose();
        snapshot.Dispose();
    }

    [Fact]
    public void WhatIsDisposedSaysSo()
    {
        var context = Repository.Open("small.json");
        var snapshot = context.TakeSnapshot();
        using var open = context.TakeSnapshot();
        context.Dispose();
        snapshot.Dispose();
        Assert.Equal("Context", Assert.Throws<ObjectDisposedException>(() => context.CountDevices()).ObjectName);
        Assert.Throws<ObjectDisposedException>(() => context.TakeSnapshot());
        Assert.Equal("Snapshot", Assert.Throws<ObjectDisposedException>(() => snapshot.ToJson()).ObjectName);
        Assert.Throws<ObjectDisposedException>(() => open.DeltaSince(snapshot, 0));
        Assert.Throws<ObjectDisposedException>(() => snapshot.DeltaSince(open, 0));
        Assert.Equal(1u, snapshot.Info.DeviceCount);
    }

    [Fact]
    public async Task ACallUnderWayOutlivesDispose()
    {
        Exception? told;
        bool wasUnderWay;
        // A call that the machine held up came too late, or was over.
        var patienceMs = 150;
        do
        {
            var context = Repository.Open("hanging.json", new ContextOptions { DeadlineMs = 3000 });
            using var started = new ManualResetEventSlim();
            var call = Task.Run(() =>
            {
                started.Set();
                return Record.Exception(() => context.TakeSnapshot(new() { Collect = Collect.Everything }).Dispose());
            });
            started.Wait();
            Thread.Sleep(patienceMs);
            wasUnderWay = !call.IsCompleted;
            context.Dispose();
            Assert.Throws<ObjectDisposedException>(() => context.CountDevices());
            told = await call;
            patienceMs *= 2;
        } while (patienceMs < 3000 && (!wasUnderWay || told is ObjectDisposedException));
        Assert.True(wasUnderWay);
        Assert.Null(told);
    }

    [Fact]
    public void EightThreadsShareAContextThatIsDisposedUnderThem()
    {
        for (var round = 0; round < 20; round++)
        {
            var context = Repository.Open("eight.json");
            var done = 0;
            var threads = new Thread[8];
            var failures = new Exception?[8];
            for (var i = 0; i < threads.Length; i++)
            {
                var me = i;
                threads[i] = new Thread(() => failures[me] = Use(context, ref done));
                threads[i].Start();
            }
            SpinWait.SpinUntil(() => Volatile.Read(ref done) > 40, 10_000);
            context.Dispose();
            Array.ForEach(threads, thread => thread.Join());
            Assert.All(failures, failure => Assert.IsType<ObjectDisposedException>(failure));
            Assert.True(done > 40);
        }
    }

    private static Exception? Use(Context context, ref int done)
    {
        try
        {
            for (; ; Interlocked.Increment(ref done))
            {
                using var snapshot = context.TakeSnapshot();
                if (snapshot.Devices.Count != 8 || context.ReadPool(3).DeviceIndex != 3)
                    return new InvalidOperationException("wrong answer");
            }
        }
        catch (Exception error)
        {
            return error;
        }
    }
}
