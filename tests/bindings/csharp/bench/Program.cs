// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Diagnostics;
using Hypomnesis;

// Program MACHINE...: microseconds of a snapshot that is copied whole, the best of many rounds.
const int Warm = 2000, Rounds = 40, Each = 100;
foreach (var machine in args)
{
    using var context = new Context(new ContextOptions { Flags = ContextFlags.NoThreads });
    context.SetPath(SourcePath.Simulation, machine);
    var options = new SnapshotOptions { Collect = Collect.Everything };
    var objects = 0;
    var took = Best(Rounds, Each, () =>
    {
        using var snapshot = context.TakeSnapshot(options);
        objects = 3 + 3 * snapshot.Devices.Count + snapshot.Pools.Count + snapshot.Usages.Count
            + snapshot.Diagnostics.Count;
    });
    Console.WriteLine($"snapshot\t{took:F2}\t{objects}\t{machine}");
}
uint sum = 0;
Console.WriteLine($"call\t{Best(Rounds, 100_000, () => sum += Library.VersionNumber):F4}");

static double Best(int rounds, int each, Action action)
{
    for (var i = 0; i < Warm; i++)
        action();
    var best = double.MaxValue;
    for (var round = 0; round < rounds; round++)
    {
        var watch = Stopwatch.StartNew();
        for (var i = 0; i < each; i++)
            action();
        best = Math.Min(best, watch.Elapsed.TotalMicroseconds / each);
    }
    return best;
}
