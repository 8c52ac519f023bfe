// SPDX-License-Identifier: MIT OR Apache-2.0
// fit DTYPE TOKENS: the GPUs on which Llama 3.1 8B fits, for instance "fit bf16 8192". Exit status 0 if any.
using System;
using Hypomnesis;

const ulong parameters = 8030261248;

if (args.Length != 2 || !ulong.TryParse(args[1], out var tokens))
{
    Console.Error.WriteLine("usage: fit DTYPE TOKENS, for instance fit bf16 8192");
    return 2;
}
// Weights as stored, keys and values of each token in 16 bits, and 10 % overhead. The values are as large as the
// keys.
var weights = Estimate.Tensor([parameters], Estimate.DtypeFrom(args[0]));
var keys = Estimate.Cache(new Cache { Dtype = Dtype.F16, Layers = 32, KvHeads = 8, RowDim = 128 }, tokens);
var cache = Estimate.Sum(keys, keys);
var total = Estimate.Overhead(Estimate.Sum(weights, cache));
Console.WriteLine($"weights: {Library.FormatBytes(weights)}");
Console.WriteLine($"cache: {Library.FormatBytes(cache)}");
Console.WriteLine($"with a tenth more: {Library.FormatBytes(total)}");

using var context = new Context(new ContextOptions { Flags = ContextFlags.Environment });
var fitsAnywhere = false;
var count = context.Scan().Count;
for (uint index = 0; index < count; index++)
{
    try
    {
        using var tracker = context.CreateTracker(index);
        var fits = tracker.WouldFit(total);
        fitsAnywhere |= fits;
        Console.WriteLine($"GPU {index}: {(fits ? "fits" : "does not fit")}");
    }
    catch (HypomnesisException)
    {
        Console.WriteLine($"GPU {index}: not known");
    }
}
return fitsAnywhere ? 0 : 1;
