// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Linq;
using Hypomnesis.Interop;
using Xunit;

namespace Hypomnesis.Tests;

public class ErrorTest
{
    public static IEnumerable<object[]> Statuses() =>
        Enum.GetValues<Status>().Where(status => status != Status.Ok).Append((Status)(-4711))
            .Select(status => new object[] { status });

    [Theory, MemberData(nameof(Statuses))]
    public void EveryStatusThrowsItsException(Status status)
    {
        var exception = Record.Exception(() => Throw(status));
        var expected = status switch
        {
            Status.Argument or Status.UnknownFlag => typeof(HypomnesisArgumentException),
            Status.Range => typeof(HypomnesisRangeException),
            _ => typeof(HypomnesisException),
        };
        Assert.Equal(expected, exception?.GetType());
        var error = Assert.IsAssignableFrom<IHypomnesisError>(exception);
        Assert.Equal((status, Backend.Nvml, Reason.Failed, NativeDomain.Nvml, 999, "x"),
            (error.Status, error.Backend, error.Reason, error.NativeDomain, error.NativeCode, error.Message));
    }

    private static unsafe void Throw(Status status)
    {
        var error = Native.NewError();
        (error.status, error.backend, error.reason) = ((int)status, 2, 10);
        (error.native_domain, error.native_code) = (7, 999);
        error.message[0] = (byte)'x';
        HypomnesisException.ThrowIfFailed(ref error);
    }

    [Fact]
    public void MisuseThrowsArgumentExceptions()
    {
        using var context = Repository.Open("small.json");
        Assert.IsAssignableFrom<ArgumentException>(Record.Exception(() => context.FindDevice("colour:red")));
        Assert.IsAssignableFrom<ArgumentException>(Record.Exception(() =>
            context.ReadOwnMemory((ProcessMemoryFields)(1u << 30))));
        Assert.IsAssignableFrom<ArgumentOutOfRangeException>(Record.Exception(() => context.ReadProcessMemory(0)));
        Assert.IsAssignableFrom<ArgumentOutOfRangeException>(Record.Exception(() =>
            context.ReadPool(0, (PoolKind)99)));
        Assert.IsAssignableFrom<ArgumentException>(Record.Exception(() =>
            new Context(new ContextOptions { Flags = (ContextFlags)(1u << 30) })));
        Assert.IsAssignableFrom<ArgumentException>(Record.Exception(() =>
            context.TakeSnapshot(new SnapshotOptions { Pid = 7 })));
    }

    [Fact]
    public void AnUnknownDeviceIsNamedInTheMessage()
    {
        using var context = Repository.Open("small.json");
        var exception = Assert.Throws<HypomnesisException>(() => context.ReadDevice(4711));
        Assert.Equal(Status.NoDevice, exception.Status);
        Assert.Contains("4711", exception.Message);
        Assert.False(context.TryFindDevice("driver:nvidia:4711", out _));
        Assert.True(context.TryFindDevice("driver:nvidia:0", out var index));
        Assert.Equal(0u, index);
    }

    [Fact]
    public void TextWithNulIsRefused()
    {
        using var context = Repository.Open("small.json");
        Assert.Throws<HypomnesisArgumentException>(() => context.FindDevice("driver:nvidia:0\0"));
        using var snapshot = context.TakeSnapshot();
        Assert.Throws<HypomnesisArgumentException>(() => snapshot.DeltaLine(snapshot, 0, "a\0b"));
        Assert.Throws<ArgumentNullException>(() => snapshot.DeltaLine(snapshot, 0, null!));
        Assert.Throws<ArgumentNullException>(() => snapshot.DeltaSince(null!, 0));
    }
}
