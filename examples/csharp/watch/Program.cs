// SPDX-License-Identifier: MIT OR Apache-2.0
// watch PID: the memory of a process on the host and on each GPU, five times a second until it exits, and the GPUs
// whose memory spilled to the host meanwhile.
using System;
using System.Collections.Generic;
using System.Threading;
using Hypomnesis;

if (args.Length != 1 || !uint.TryParse(args[0], out var pid))
{
    Console.Error.WriteLine("usage: watch PID");
    return 2;
}
using var context = new Context(new ContextOptions { Flags = ContextFlags.Environment });
var spills = new SortedDictionary<uint, Spill>();
var samples = 0;
var exited = false;
try
{
    for (; ; Thread.Sleep(200))
    {
        Sample(samples + 1);
        samples++;
    }
}
catch (HypomnesisException error)
{
    exited = samples > 0 && error.Status == Status.NoProcess;
    if (!exited)
        Console.WriteLine(error.Message);
}
foreach (var (index, spill) in spills)
{
    Console.WriteLine($"GPU {index}: {DescribeSpill(spill.ReadInfo())}");
    spill.Dispose();
}
return exited ? 0 : 1;

// One line. Reads all processes, because some drivers report evicted memory per process.
void Sample(int number)
{
    var host = context.ReadProcessMemory(pid);
    using var snapshot = context.TakeSnapshot(new SnapshotOptions
    {
        Collect = Collect.Devices | Collect.Pools | Collect.Processes,
    });
    Console.Write("host " + (host.ResidentBytes is { } bytes ? Library.FormatBytes(bytes) : "not known"));
    foreach (var usage in snapshot.Usages)
        if (usage.Pid == pid && usage.UsedBytes is { } used)
            Console.Write($", GPU {usage.DeviceIndex} {Library.FormatBytes(used)}");
    Console.WriteLine();
    foreach (var device in snapshot.Devices)
        Observe(device.Index, snapshot, $"sample {number}");
}

void Observe(uint index, Snapshot snapshot, string label)
{
    if (!spills.ContainsKey(index))
        spills[index] = Spill.CreateFed(deviceIndex: index);
    try
    {
        spills[index].ObserveSnapshot(snapshot, label);
    }
    catch (HypomnesisException)
    {
        // A detector without values reports that at the end.
    }
}

static string DescribeSpill(SpillInfo info) =>
    info.FirstLabel is { } label ? $"spilled, first in {label}"
    : info.ObservationCount > 0 ? "did not spill" : "not known whether it spilled";
