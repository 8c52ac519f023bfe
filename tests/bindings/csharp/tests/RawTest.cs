// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Text.Json;
using Hypomnesis.Interop;
using Xunit;

namespace Hypomnesis.Tests;

/// <summary>Fields read in place must equal the results of SWIG's getters, compiled from the C header.</summary>
public class RawTest
{
    public static IEnumerable<object[]> Machines() => Repository.Machines().Select(path => new object[] { path });

    [Theory, MemberData(nameof(Machines))]
    public void RecordsEqualTheResultsOfTheCGetters(string machine)
    {
        using var context = new Context();
        context.SetPath(SourcePath.Simulation, machine);
        var contextHandle = GetHandle<ContextHandle>(context);
        using var snapshot = context.TakeSnapshot(new SnapshotOptions { Collect = Collect.Everything });
        var snapshotHandle = GetHandle<SnapshotHandle>(snapshot);
        var error = Native.NewError();

        CompareRecord("hmn_snapshot_info", Raw.Snapshot_info(snapshotHandle, ref error), snapshot.Info);
        CompareRecord("hmn_process_memory", Raw.Snapshot_memory(snapshotHandle, ref error), snapshot.Memory);
        CompareRecord("hmn_system_memory", Raw.Snapshot_system(snapshotHandle, ref error), snapshot.SystemMemory);
        CompareRecord("hmn_backend_info", Raw.Context_backend(contextHandle, 16, ref error),
            context.ReadBackend(Backend.Simulated));
        foreach (var (i, device) in snapshot.Devices.Index())
        {
            CompareRecord("hmn_device", Raw.Snapshot_device(snapshotHandle, (uint)i, ref error), device);
            CompareRecord("hmn_telemetry", Raw.Snapshot_telemetry(snapshotHandle, (uint)i, ref error),
                device.Telemetry);
            CompareRecord("hmn_usage", Raw.Snapshot_own_usage(snapshotHandle, (uint)i, ref error), device.OwnUsage);
            CompareRecord("hmn_delta",
                Raw.Snapshot_delta_since(snapshotHandle, snapshotHandle, device.Index, ref error),
                snapshot.DeltaSince(snapshot, device.Index));
        }
        foreach (var (i, pool) in snapshot.Pools.Index())
            CompareRecord("hmn_pool", Raw.Snapshot_pool(snapshotHandle, (uint)i, ref error), pool);
        foreach (var (i, usage) in snapshot.Usages.Index())
            CompareRecord("hmn_usage", Raw.Snapshot_usage(snapshotHandle, (uint)i, ref error), usage);
        foreach (var (i, diagnostic) in snapshot.Diagnostics.Index())
            CompareRecord("hmn_diagnostic", Raw.Snapshot_diagnostic(snapshotHandle, (uint)i, ref error), diagnostic);
        Assert.Equal(Raw.OK, error.status);
    }

    private static void CompareRecord(string name, IntPtr record, object? copy)
    {
        Assert.Equal(record == IntPtr.Zero, copy is null);
        if (copy is null)
            return;
        foreach (var field in Repository.Abi.GetProperty("structs").GetProperty(name)
                     .GetProperty("fields").EnumerateArray())
            CompareField(name, field.GetProperty("name").GetString()!, record, copy);
        Raw.release(record);
    }

    private static void CompareField(string name, string field, IntPtr record, object copy)
    {
        if (field is "struct_size" or "present" or "reserved0")
            return;
        var getter = typeof(Raw).GetMethod($"{name}_{field}_get");
        Assert.True(getter is not null, $"the raw layer has no {name}.{field}");
        var expected = getter.Invoke(null, [record]);
        var actual = copy.GetType().GetProperty(Repository.ToPascalCase(field))!.GetValue(copy);
        Assert.Equal(expected, NormalizeValue(actual));
    }

    private static object? NormalizeValue(object? value) => value switch
    {
        bool flag => flag ? 1u : 0u,
        Enum number => Convert.ChangeType(number, number.GetTypeCode()),
        _ => value,
    };

    private static T GetHandle<T>(object owner) =>
        (T)owner.GetType().GetField("handle", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(owner)!;
}
