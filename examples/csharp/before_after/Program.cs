// SPDX-License-Identifier: MIT OR Apache-2.0
// before_after: the change on the host and on the first GPU when 64 MiB are allocated.
using System;
using Hypomnesis;

const int WorkBytes = 64 << 20;
using var context = new Context(new ContextOptions { Flags = ContextFlags.Environment });
using var before = context.TakeSnapshot();
var work = new byte[WorkBytes];
Array.Fill(work, (byte)1);
using var after = context.TakeSnapshot();
GC.KeepAlive(work);

if (after.Devices.Count > 0 && after.BeforeAfterLines(before, 0, "work") is { } lines)
{
    Console.Write(lines);
    return 0;
}
if (before.Memory?.ResidentBytes is not { } first || after.Memory?.ResidentBytes is not { } second)
{
    Console.WriteLine("RAM is not known");
    return 1;
}
if (second >= first + WorkBytes)
{
    Console.WriteLine("RAM +64 MiB or more");
    return 0;
}
Console.WriteLine("RAM rose by less than 64 MiB");
return 1;
