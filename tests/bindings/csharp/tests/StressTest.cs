// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Linq;
using Xunit;

namespace Hypomnesis.Tests;

public class StressTest
{
    private const int Cycles = 10_000;

    /// <summary>1.6 KiB a cycle: less than a context or a snapshot takes.</summary>
    private const ulong Bound = 32ul << 20;

    /// <summary>Handles are left to the collector, context before snapshot. It comes late where other programs
    /// use the processors: memory grows once, but what leaks grows in every round.</summary>
    [Fact]
    public void TenThousandCyclesLeaveMemoryFlat()
    {
        using var gauge = new Context();
        Spend(Cycles);
        var seen = new List<ulong> { Resident(gauge) };
        do
        {
            Spend(2 * Cycles);
            seen.Add(Resident(gauge));
        } while (seen.Count < 5 && seen[^1] >= seen[^2] + Bound);
        Assert.True(seen[^1] < seen[^2] + Bound, $"bytes after each round: {string.Join(", ", seen)}");
    }

    private static void Spend(int cycles)
    {
        var kept = new Queue<Snapshot>();
        for (var i = 0; i < cycles; i++)
        {
            var context = Repository.Open("small.json");
            kept.Enqueue(context.TakeSnapshot());
            if (i % 3 == 0)
                context.Dispose();
            if (kept.Count > 50)
                Drop(kept.Dequeue(), i);
        }
        Assert.Contains("Small GPU", kept.Last().ToJson());
    }

    private static void Drop(Snapshot snapshot, int i)
    {
        if (i % 2 == 0)
            snapshot.Dispose();
    }

    private static ulong Resident(Context gauge)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        return gauge.ReadOwnMemory().ResidentBytes!.Value;
    }
}
