// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Linq;
using Xunit;

namespace Hypomnesis.Tests;

public class StressTest
{
    private const int Cycles = 10_000;

    /// <summary>1.6 KiB per cycle: less than the size of a context or a snapshot.</summary>
    private const ulong MaxGrowth = 32ul << 20;

    /// <summary>Handles are left to the collector, context before snapshot. On a busy machine it runs late, so
    /// memory may grow once, but a leak grows in every round.</summary>
    [Fact]
    public void TenThousandCyclesDoNotIncreaseMemory()
    {
        using var monitor = new Context();
        RunCycles(Cycles);
        var residentBytes = new List<ulong> { ReadResident(monitor) };
        do
        {
            RunCycles(2 * Cycles);
            residentBytes.Add(ReadResident(monitor));
        } while (residentBytes.Count < 5 && residentBytes[^1] >= residentBytes[^2] + MaxGrowth);
        Assert.True(residentBytes[^1] < residentBytes[^2] + MaxGrowth,
            $"bytes after each round: {string.Join(", ", residentBytes)}");
    }

    private static void RunCycles(int cycles)
    {
        var snapshots = new Queue<Snapshot>();
        for (var i = 0; i < cycles; i++)
        {
            var context = Repository.Open("small.json");
            snapshots.Enqueue(context.TakeSnapshot());
            if (i % 3 == 0)
                context.Dispose();
            if (snapshots.Count > 50)
                Drop(snapshots.Dequeue(), i);
        }
        Assert.Contains("Small GPU", snapshots.Last().ToJson());
    }

    private static void Drop(Snapshot snapshot, int i)
    {
        if (i % 2 == 0)
            snapshot.Dispose();
    }

    private static ulong ReadResident(Context monitor)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        return monitor.ReadOwnMemory().ResidentBytes!.Value;
    }
}
