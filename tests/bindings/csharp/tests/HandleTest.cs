// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Linq;
using System.Reflection;
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
    public void CancelEndsTheWaitOfAnotherThreadUntilResume()
    {
        using var context = Repository.Open("stuck.json");
        Assert.Equal(1u, context.Scan().Count);
        Exception? thrown = null;
        var waiting = new Thread(() => thrown = Record.Exception(() => context.ReadPool(0)));
        waiting.Start();
        context.Cancel();
        waiting.Join();
        Assert.Equal(Status.Cancelled, Assert.IsType<HypomnesisException>(thrown).Status);
        Assert.Equal(Status.Cancelled, Assert.Throws<HypomnesisException>(() => context.Scan()).Status);
        Assert.NotNull(context.ReadOwnMemory().ResidentBytes);
        context.Resume();
        using var snapshot = context.TakeSnapshot(new SnapshotOptions { Deadline = TimeSpan.FromMilliseconds(1) });
        Assert.Single(snapshot.Devices);
    }

    [Fact]
    public void ThreadsMayDisposeASamplerAtOnce()
    {
        using var context = Repository.Open("small.json");
        for (var round = 0; round < 200; round++)
        {
            var sampler = context.CreateSampler();
            sampler.Start();
            Parallel.For(0, 8, _ => sampler.Dispose());
        }
    }

    [Fact]
    public void NullWhereSomethingIsWantedIsAnArgumentException()
    {
        using var context = Repository.Open("small.json");
        using var snapshot = context.TakeSnapshot();
        using var tracker = new Tracker();
        using var spill = context.CreateSpill(0);
        var nullability = new NullabilityInfoContext();
        var refused = 0;
        foreach (var on in new object?[] { context, snapshot, tracker, spill, typeof(Estimate), typeof(Library) })
            foreach (var method in (on as Type ?? on!.GetType()).GetMethods(BindingFlags.Public | BindingFlags.Static
                | BindingFlags.Instance | BindingFlags.DeclaredOnly))
                foreach (var missing in method.GetParameters().Where(one => !one.ParameterType.IsValueType && !one.IsOut
                    && nullability.Create(one).WriteState == NullabilityState.NotNull
                    && !(on is Spill && one.Name == "label"))) // as C has it: NULL is no label
                {
                    var given = method.GetParameters().Select(one => one == missing ? null
                        : one.ParameterType == typeof(Snapshot) ? snapshot
                        : one.ParameterType == typeof(string) ? "x"
                        : one.ParameterType == typeof(ulong[]) ? new ulong[] { 1 }
                        : one.IsOut ? null
                        : Activator.CreateInstance(one.ParameterType)).ToArray();
                    var told = Record.Exception(() => method.Invoke(on as Type is null ? on : null, given));
                    Assert.True(told is TargetInvocationException { InnerException: ArgumentException },
                        $"{method} without {missing.Name}: {told?.InnerException}");
                    refused++;
                }
        Assert.True(refused >= 15, $"{refused} arguments");
    }

    [Fact]
    public void WhatIsDisposedSaysSo()
    {
        var context = Repository.Open("small.json");
        var snapshot = context.TakeSnapshot();
        using var open = context.TakeSnapshot();
        context.Dispose();
        snapshot.Dispose();
        Assert.Equal("Context", Assert.Throws<ObjectDisposedException>(() => context.Scan()).ObjectName);
        Assert.Throws<ObjectDisposedException>(() => context.TakeSnapshot());
        Assert.Equal("Snapshot", Assert.Throws<ObjectDisposedException>(() => snapshot.ToJson()).ObjectName);
        Assert.Throws<ObjectDisposedException>(() => snapshot.PoolOf(0));
        Assert.Throws<ObjectDisposedException>(() => snapshot.Reason(0, Collect.Pools));
        Assert.Throws<ObjectDisposedException>(() => open.DeltaSince(snapshot, 0));
        Assert.Throws<ObjectDisposedException>(() => snapshot.DeltaSince(open, 0));
        Assert.Equal(1u, snapshot.Info.DeviceCount);
    }

    [Fact]
    public void OtherClassesThanGpusAreListedWhereAskedFor()
    {
        using var gpus = Repository.Open("classes.json");
        Assert.Equal(1u, gpus.Scan().Count);
        Assert.Equal(DeviceClass.Gpu, gpus.ReadDevice(0).DeviceClass);
        using var npus = Repository.Open("classes.json", new ContextOptions { DeviceClasses = 1u << (int)DeviceClass.Npu });
        Assert.Equal(1u, npus.Scan().Count);
        Assert.Equal(DeviceClass.Npu, npus.ReadDevice(0).DeviceClass);
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
          var context = Repository.Open("hanging.json",
                                        new ContextOptions { Deadline = TimeSpan.FromSeconds(3) });
          using var started = new ManualResetEventSlim();
          var call =
              Task.Run(() => {
                started.Set();
                return Record.Exception(() => context.TakeSnapshot(new() { Collect = Collect.Everything }).Dispose());
              });
          started.Wait();
          Thread.Sleep(patienceMs);
          wasUnderWay = !call.IsCompleted;
          context.Dispose();
          Assert.Throws<ObjectDisposedException>(() => context.Scan());
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
