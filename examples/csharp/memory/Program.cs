// SPDX-License-Identifier: MIT OR Apache-2.0
// memory: the memory of this process, and what the host has available.
using System;
using Hypomnesis;

using var context = new Context(new ContextOptions { Flags = ContextFlags.Environment });
try
{
    Say("resident", context.ReadOwnMemory().ResidentBytes);
    Say("available", context.ReadSystemMemory().AvailableBytes);
    return 0;
}
catch (HypomnesisException error)
{
    Console.Error.WriteLine(error.Message);
    return 1;
}

static void Say(string what, ulong? bytes) => Console.WriteLine(bytes is { } known
    ? $"{what}: {known} bytes ({Library.FormatBytes(known)})"
    : $"{what}: not known");
