// SPDX-License-Identifier: MIT OR Apache-2.0
// `free_memory SIZE`: the GPU that has SIZE free, for instance 8GiB. Exit status 0 if any has.
using System;
using System.Linq;
using Hypomnesis;

if (args.Length != 1 || ParseSize(args[0]) is not { } size)
{
    Console.Error.WriteLine("usage: free_memory SIZE, for instance 8GiB");
    return 2;
}
using var context = new Context(new ContextOptions { Flags = ContextFlags.Environment });
using var snapshot = context.TakeSnapshot();
foreach (var device in snapshot.Devices)
{
    var name = device.Name is null ? "" : $" [{device.Name}]";
    Console.WriteLine($"GPU {device.Index}{name}: " + (ReadFreeMemory(device) is { } free
        ? $"{Library.FormatBytes(free)} free, {(free >= size ? "fits" : "does not fit")}"
        : "free memory is not known"));
}
if (snapshot.Devices.Where(device => ReadFreeMemory(device) >= size).MaxBy(ReadFreeMemory) is { } best)
{
    Console.WriteLine($"GPU {best.Index} has most");
    return 0;
}
Console.WriteLine($"no GPU has {Library.FormatBytes(size)} free");
return 1;

static ulong? ReadFreeMemory(Device device) => device.Pools.FirstOrDefault(pool => pool.IsMain)?.UsableBytes;

// Bytes, or a whole number of KiB, MiB, GiB or TiB; null for anything else.
static ulong? ParseSize(string text)
{
    string[] units = ["KiB", "MiB", "GiB", "TiB"];
    var unit = Array.FindIndex(units, text.EndsWith) + 1;
    var digits = unit == 0 ? text : text[..^3];
    return ulong.TryParse(digits, out var number) && number > 0 && number <= ulong.MaxValue >> (10 * unit)
        ? number << (10 * unit) : null;
}
