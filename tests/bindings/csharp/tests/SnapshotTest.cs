// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using Xunit;

namespace Hypomnesis.Tests;

public class SnapshotTest
{
    private static readonly SnapshotOptions Everything = new() { Collect = Collect.Everything };

    [Fact]
    public void WideIntegersAreExact()
    {
        Assert.Equal((1ul << 53) + 1, ResidentBytes("wide53.json"));
        Assert.Equal(ulong.MaxValue, ResidentBytes("wide64.json"));
    }

    private static ulong? ResidentBytes(string machine)
    {
        using var context = Repository.Open(machine);
        using var snapshot = context.TakeSnapshot(Everything);
        return snapshot.Memory?.ResidentBytes;
    }

    [Fact]
    public void NamesAreUtf8BothWays()
    {
        using var context = Repository.Open("names.json");
        using var snapshot = context.TakeSnapshot(Everything);
        Assert.Contains(snapshot.Devices, device => device.Name!.Any(letter => letter > 127));
        foreach (var device in snapshot.Devices)
            Assert.Contains(device.Name!, JsonNames(snapshot));
        Assert.StartsWith("  Größe 記憶: RAM ", snapshot.DeltaLine(snapshot, snapshot.Devices[0].Index, "Größe 記憶"));
    }

    private static IEnumerable<string?> JsonNames(Snapshot snapshot) =>
        JsonDocument.Parse(snapshot.ToJson()).RootElement.GetProperty("devices").EnumerateArray()
            .Select(device => device.GetProperty("name").GetString()).ToList();

    [Fact]
    public void ADeviceHasWhatIsItsOwn()
    {
        using var context = Repository.Open("eight.json");
        using var snapshot = context.TakeSnapshot(Everything);
        Assert.Equal(8, snapshot.Devices.Count);
        foreach (var device in snapshot.Devices)
        {
            Assert.NotEmpty(device.Pools);
            Assert.All(device.Pools, pool => Assert.Equal(device.Index, pool.DeviceIndex));
            Assert.True(device.Pools[0].IsMain);
            Assert.Equal(device.Index, device.Telemetry!.DeviceIndex);
            Assert.Equal(device.Index, device.OwnUsage!.DeviceIndex);
        }
        Assert.Equal(snapshot.Pools, snapshot.Devices.SelectMany(device => device.Pools));
        Assert.Equal(64, snapshot.Usages.Count);
    }

    [Fact]
    public void WhatIsAbsentIsNull()
    {
        using var context = Repository.Open("nothing.json");
        using var snapshot = context.TakeSnapshot(Everything);
        Assert.Null(snapshot.Devices[0].Name);
        Assert.Null(snapshot.Devices[0].DriverIndex);
        Assert.All(snapshot.Devices[0].Pools, pool => Assert.Null(pool.TotalBytes));
        using var small = Repository.Open("small.json");
        using var without = small.TakeSnapshot(new SnapshotOptions { Collect = Collect.Devices });
        Assert.Null(without.Memory);
        Assert.Null(without.SystemMemory);
        Assert.Null(without.Devices[0].Telemetry);
        Assert.Null(without.Devices[0].OwnUsage);
        Assert.Empty(without.Devices[0].Pools);
        Assert.Null(without.DeviceLine(0, DeviceFormat.Free));
    }

    [Fact]
    public void ListsCannotBeChanged()
    {
        using var context = Repository.Open("eight.json");
        using var snapshot = context.TakeSnapshot(Everything);
        Assert.Throws<NotSupportedException>(() => ((IList<Device>)snapshot.Devices).Clear());
        Assert.Throws<NotSupportedException>(() => ((IList<Pool>)snapshot.Devices[0].Pools).Clear());
        Assert.IsNotType<Usage[]>(snapshot.Usages);
    }

    [Fact]
    public void OptionsConfineToOneDeviceAndProcess()
    {
        using var context = Repository.Open("eight.json");
        using var one = context.TakeSnapshot(Everything.OfDevice(3));
        Assert.Equal(3u, Assert.Single(one.Devices).Index);
        using var all = context.TakeSnapshot(Everything);
        var pid = all.Usages[5].Pid;
        using var alone = context.TakeSnapshot(Everything.OfProcess(pid));
        Assert.NotEmpty(alone.Usages);
        Assert.All(alone.Usages, usage => Assert.Equal(pid, usage.Pid));
    }
}
