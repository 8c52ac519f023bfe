// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using Hypomnesis;

// Bench MACHINE...: the cost of a full snapshot, copied whole, on each machine file, compared with a bare call.
// Not a test: the numbers are for docs/performance.md. ../../c/bench.c does the same in C.
const int Rounds = 400, BareCalls = 10_000_000;
// Warm-up, as the compiler optimizes in the background.
var warmUp = TimeSpan.FromSeconds(2);

Console.WriteLine($"bare call: {MeasureBareCall():F2} ns");
var fastest = new List<(int Objects, double Us)>();
foreach (var machine in args)
    fastest.Add(Bench(machine, warmUp));
if (fastest is [var (objects, us), _, ..])
    Console.WriteLine($"ns per further object: {1000 * (us - fastest[^1].Us) / (objects - fastest[^1].Objects):F0}");

static double MeasureBareCall()
{
    uint sum = 0;
    var stopwatch = Stopwatch.StartNew();
    for (var i = 0; i < BareCalls; i++)
        sum += Library.VersionNumber;
    return sum == 0 ? 0 : stopwatch.Elapsed.TotalNanoseconds / BareCalls;
}

static (int Objects, double Us) Bench(string machine, TimeSpan warmUp)
{
    using var context = new Context();
    context.SetPath(SourcePath.Simulation, Path.GetFullPath(machine));
    var options = new SnapshotOptions { Collect = Collect.Everything };
    var objects = 0;
    var times = new double[Rounds];
    var stopwatch = Stopwatch.StartNew();
    for (var i = 0; i < Rounds; i = stopwatch.Elapsed < warmUp ? 0 : i + 1)
    {
        var start = Stopwatch.GetTimestamp();
        using (var snapshot = context.TakeSnapshot(options))
            objects = CountObjects(snapshot);
        times[i] = Stopwatch.GetElapsedTime(start).TotalMicroseconds;
    }
    Array.Sort(times);
    Console.WriteLine($"{machine}: {objects} objects; median (least) us: copied whole {times[Rounds / 2]:F1}"
        + $" ({times[0]:F1})");
    return (objects, times[0]);
}

static int CountObjects(Snapshot snapshot) => 3 + 3 * snapshot.Devices.Count + snapshot.Pools.Count
    + snapshot.Usages.Count + snapshot.Diagnostics.Count;
