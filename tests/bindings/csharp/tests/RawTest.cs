// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Text.Json;
using Hypomnesis.Interop;
using Xunit;

namespace Hypomnesis.Tests;

/// <summary>What is read of a record in place is what SWIG's getters, compiled from the C header, return of
/// it.</summary>
public class RawTest
{
    public static IEnumerable<object[]> Machines() => Repository.Machines().Select(path => new object[] { path });

    [Theory, MemberData(nameof(Machines))]
    public void RecordsAreReadAsCReadsThem(string machine)
    {
        using var context = new Context();
        context.SetPath(SourcePath.Simulation, machine);
        var handle = Private<ContextHandle>(context);
        using var snapshot = context.TakeSnapshot(new SnapshotOptions { Collect = Collect.Everything });
        var taken = Private<SnapshotHandle>(snapshot);
        var error = Native.NewError();

        Hold("hmn_snapshot_info", Raw.Snapshot_info(taken, ref error), snapshot.Info);
        Hold("hmn_process_memory", Raw.Snapshot_memory(taken, ref error), snapshot.Memory);
        Hold("hmn_system_memory", Raw.Snapshot_system(taken, ref error), snapshot.SystemMemory);
        Hold("hmn_backend_info", Raw.Context_backend(handle, 16, ref error), context.ReadBackend(Backend.Simulated));
        foreach (var (i, device) in snapshot.Devices.Index())
        {
            Hold("hmn_device", Raw.Snapshot_device(taken, (uint)i, ref error), device);
            Hold("hmn_telemetry", Raw.Snapshot_telemetry(taken, (uint)i, ref error), device.Telemetry);
            Hold("hmn_usage", Raw.Snapshot_own_usage(taken, (uint)i, ref error), device.OwnUsage);
            Hold("hmn_delta", Raw.Snapshot_delta_since(taken, taken, device.Index, ref error),
                snapshot.DeltaSince(snapshot, device.Index));
        }
        foreach (var (i, pool) in snapshot.Pools.Index())
            Hold("hmn_pool", Raw.Snapshot_pool(taken, (uint)i, ref error), pool);
        foreach (var (i, usage) in snapshot.Usages.Index())
            Hold("hmn_usage", Raw.Snapshot_usage(taken, (uint)i, ref error), usage);
        foreach (var (i, diagnostic) in snapshot.Diagnostics.Index())
            Hold("hmn_diagnostic", Raw.Snapshot_diagnostic(taken, (uint)i, ref error), diagnostic);
        Assert.Equal(Raw.OK, error.status);
    }

    private static void Hold(string name, IntPtr record, object? copy)
    {
        Assert.Equal(record == IntPtr.Zero, copy is null);
        if (copy is null)
            return;
        foreach (var field in Repository.Abi.GetProperty("structs").GetProperty(name)
                     .GetProperty("fields").EnumerateArray())
            HoldField(name, field.GetProperty("name").GetString()!, record, copy);
        Raw.release(record);
    }

    private static void HoldField(string name, string field, IntPtr record, object copy)
    {
        if (field is "struct_size" or "present" or "reserved0")
            return;
        var getter = typeof(Raw).GetMethod($"{name}_{field}_get");
        Assert.True(getter is not null, $"the raw layer has no {name}.{field}");
        var said = getter.Invoke(null, [record]);
        var shown = copy.GetType().GetProperty(Repository.Pascal(field))!.GetValue(copy);
        Assert.Equal(said, Plain(shown));
    }

    private static object? Plain(object? value) => value switch
    {
        bool yes => yes ? 1u : 0u,
        Enum number => Convert.ChangeType(number, number.GetTypeCode()),
        _ => value,
    };

    private static T Private<T>(object of) =>
        (T)of.GetType().GetField("handle", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(of)!;
}
