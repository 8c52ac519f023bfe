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
    public void HandlesMayBeDisposedTwice()
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
        Exception? exception = null;
        var reader = new Thread(() => exception = Record.Exception(() => context.ReadPool(0)));
        reader.Start();
        context.Cancel();
        reader.Join();
        Assert.Equal(Status.Cancelled, Assert.IsType<HypomnesisException>(exception).Status);
        Assert.Equal(Status.Cancelled, Assert.Throws<HypomnesisException>(() => context.Scan()).Status);
        Assert.NotNull(context.ReadOwnMemory().ResidentBytes);
        context.Resume();
        using var snapshot = context.TakeSnapshot(new SnapshotOptions { Deadline = TimeSpan.FromMilliseconds(1) });
        Assert.Single(snapshot.Devices);
    }

    [Fact]
    public void SeveralThreadsMayDisposeOneSampler()
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
    public void NullForARequiredArgumentIsAnArgumentException()
    {
        using var context = Repository.Open("small.json");
        using var snapshot = context.TakeSnapshot();
        using var tracker = new Tracker();
        using var spill = context.CreateSpill(0);
        var nullability = new NullabilityInfoContext();
        var refusals = 0;
        foreach (var target in new object?[] { context, snapshot, tracker, spill, typeof(Estimate), typeof(Library) })
            foreach (var method in (target as Type ?? target!.GetType()).GetMethods(BindingFlags.Public
                | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly))
                foreach (var missing in method.GetParameters().Where(parameter =>
                    !parameter.ParameterType.IsValueType && !parameter.IsOut
                    && nullability.Create(parameter).WriteState == NullabilityState.NotNull
                    && !(target is Spill && parameter.Name == "label"))) // null means no label, as in C
                {
                    var arguments = method.GetParameters().Select(parameter => parameter == missing ? null
                        : parameter.ParameterType == typeof(Snapshot) ? snapshot
                        : parameter.ParameterType == typeof(string) ? "x"
                        : parameter.ParameterType == typeof(ulong[]) ? new ulong[] { 1 }
                        : parameter.IsOut ? null
                        : Activator.CreateInstance(parameter.ParameterType)).ToArray();
                    var exception = Record.Exception(
                        () => method.Invoke(target as Type is null ? target : null, arguments));
                    Assert.True(exception is TargetInvocationException { InnerException: ArgumentException },
                        $"{method} without {missing.Name}: {exception?.InnerException}");
                    refusals++;
                }
        Assert.True(refusals >= 15, $"{refusals} arguments");
    }

    [Fact]
    public void CallsOnADisposedHandleThrowObjectDisposed()
    {
        var context = Repository.Open("small.json");
        var snapshot = context.TakeSnapshot();
        using var other = context.TakeSnapshot();
        context.Dispose();
        snapshot.Dispose();
        Assert.Equal("Context", Assert.Throws<ObjectDisposedException>(() => context.Scan()).ObjectName);
        Assert.Throws<ObjectDisposedException>(() => context.TakeSnapshot());
        Assert.Equal("Snapshot", Assert.Throws<ObjectDisposedException>(() => snapshot.ToJson()).ObjectName);
        Assert.Throws<ObjectDisposedException>(() => snapshot.PoolOf(0));
        Assert.Throws<ObjectDisposedException>(() => snapshot.Reason(0, Collect.Pools));
        Assert.Throws<ObjectDisposedException>(() => other.DeltaSince(snapshot, 0));
        Assert.Throws<ObjectDisposedException>(() => snapshot.DeltaSince(other, 0));
        Assert.Equal(1u, snapshot.Info.DeviceCount);
    }

    [Fact]
    public void OtherDeviceClassesAreListedOnlyIfRequested()
    {
        using var gpus = Repository.Open("classes.json");
        Assert.Equal(1u, gpus.Scan().Count);
        Assert.Equal(DeviceClass.Gpu, gpus.ReadDevice(0).DeviceClass);
        using var npus = Repository.Open("classes.json", new ContextOptions { DeviceClasses = 1u << (int)DeviceClass.Npu });
        Assert.Equal(1u, npus.Scan().Count);
        Assert.Equal(DeviceClass.Npu, npus.ReadDevice(0).DeviceClass);
    }

    [Fact]
    public async Task ACallInProgressOutlivesDispose()
    {
        Exception? exception;
        bool wasInProgress;
        // On a busy machine the call may start too late or end too early; then try again with a longer delay.
        var delayMs = 150;
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
          Thread.Sleep(delayMs);
          wasInProgress = !call.IsCompleted;
          context.Dispose();
          Assert.Throws<ObjectDisposedException>(() => context.Scan());
          exception = await call;
          delayMs *= 2;
        } while (delayMs < 3000 && (!wasInProgress || exception is ObjectDisposedException));
        Assert.True(wasInProgress);
        Assert.Null(exception);
    }

    [Fact]
    public void ThreadsThatShareADisposedContextGetObjectDisposed()
    {
        for (var round = 0; round < 20; round++)
        {
            var context = Repository.Open("eight.json");
            var count = 0;
            var threads = new Thread[8];
            var failures = new Exception?[8];
            for (var i = 0; i < threads.Length; i++)
            {
                var index = i;
                threads[i] = new Thread(() => failures[index] = ReadRepeatedly(context, ref count));
                threads[i].Start();
            }
            SpinWait.SpinUntil(() => Volatile.Read(ref count) > 40, 10_000);
            context.Dispose();
            Array.ForEach(threads, thread => thread.Join());
            Assert.All(failures, failure => Assert.IsType<ObjectDisposedException>(failure));
            Assert.True(count > 40);
        }
    }

    private static Exception? ReadRepeatedly(Context context, ref int count)
    {
        try
        {
            for (; ; Interlocked.Increment(ref count))
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
