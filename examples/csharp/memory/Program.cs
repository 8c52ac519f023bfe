// SPDX-License-Identifier: MIT OR Apache-2.0
// memory: the memory of this process, and what the host has available.
using System;
using Hypomnesis;

using var context = new Context(new ContextOptions { Flags = ContextFlags.Environment });
try
{
    PrintSize("resident", context.ReadOwnMemory().ResidentBytes);
    PrintSize("available", context.ReadSystemMemory().AvailableBytes);
    return 0;
}
catch (HypomnesisException error)
{
    Console.Error.WriteLine(error.Message);
    return 1;
}

static void PrintSize(string label, ulong? bytes) => Console.WriteLine(bytes is { } value
    ? $"{label}: {value} bytes ({Library.FormatBytes(value)})"
    : $"{label}: not known");
