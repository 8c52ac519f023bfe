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
    public void IntegersBeyond53BitsAreExact()
    {
        Assert.Equal((1ul << 53) + 1, ReadResidentBytes("wide53.json"));
        Assert.Equal(ulong.MaxValue, ReadResidentBytes("wide64.json"));
    }

    private static ulong? ReadResidentBytes(string machine)
    {
        using var context = Repository.Open(machine);
        using var snapshot = context.TakeSnapshot(Everything);
        return snapshot.Memory?.ResidentBytes;
    }

    [Fact]
    public void NamesBeyondAsciiAreReadAndPassedUnchanged()
    {
        using var context = Repository.Open("names.json");
        using var snapshot = context.TakeSnapshot(Everything);
        Assert.Contains(snapshot.Devices, device => device.Name!.Any(letter => letter > 127));
        foreach (var device in snapshot.Devices)
            Assert.Contains(device.Name!, ReadJsonNames(snapshot));
        Assert.StartsWith("  Größe 記憶: RAM ", snapshot.DeltaLine(snapshot, snapshot.Devices[0].Index, "Größe 記憶"));
    }

    private static IEnumerable<string?> ReadJsonNames(Snapshot snapshot) =>
        JsonDocument.Parse(snapshot.ToJson()).RootElement.GetProperty("devices").EnumerateArray()
            .Select(device => device.GetProperty("name").GetString()).ToList();

    [Fact]
    public void ADeviceContainsItsOwnPoolsTelemetryAndUsage()
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
    public void AbsentFieldsAndPartsAreNull()
    {
        using var context = Repository.Open("nothing.json");
        using var snapshot = context.TakeSnapshot(Everything);
        Assert.Null(snapshot.Devices[0].Name);
        Assert.Null(snapshot.Devices[0].DriverIndex);
        Assert.All(snapshot.Devices[0].Pools, pool => Assert.Null(pool.TotalBytes));
        using var small = Repository.Open("small.json");
        using var devicesOnly = small.TakeSnapshot(new SnapshotOptions { Collect = Collect.Devices });
        Assert.Null(devicesOnly.Memory);
        Assert.Null(devicesOnly.SystemMemory);
        Assert.Null(devicesOnly.Devices[0].Telemetry);
        Assert.Null(devicesOnly.Devices[0].OwnUsage);
        Assert.Empty(devicesOnly.Devices[0].Pools);
        Assert.Null(devicesOnly.DeviceLine(0, DeviceFormat.Free));
    }

    [Fact]
    public void ListsAreReadOnly()
    {
        using var context = Repository.Open("eight.json");
        using var snapshot = context.TakeSnapshot(Everything);
        Assert.Throws<NotSupportedException>(() => ((IList<Device>)snapshot.Devices).Clear());
        Assert.Throws<NotSupportedException>(() => ((IList<Pool>)snapshot.Devices[0].Pools).Clear());
        Assert.IsNotType<Usage[]>(snapshot.Usages);
    }

    [Fact]
    public void OptionsLimitASnapshotToOneDeviceOrProcess()
    {
        using var context = Repository.Open("eight.json");
        using var deviceSnapshot = context.TakeSnapshot(Everything.OfDevice(3));
        Assert.Equal(3u, Assert.Single(deviceSnapshot.Devices).Index);
        using var all = context.TakeSnapshot(Everything);
        var pid = all.Usages[5].Pid;
        using var processSnapshot = context.TakeSnapshot(Everything.OfProcess(pid));
        Assert.NotEmpty(processSnapshot.Usages);
        Assert.All(processSnapshot.Usages, usage => Assert.Equal(pid, usage.Pid));
    }

    [Fact]
    public void DevicesAndProcessesAreThoseOfASnapshot()
    {
        using var context = Repository.Open("processes.json");
        var devices = context.ReadDevices();
        Assert.Equal(["First", "Second"], devices.Select(device => device.Name));
        Assert.Equal(5ul << 30, devices[1].Pools[0].UsedBytes);
        Assert.Equal(8, context.ReadProcesses().Count);
    }
}
