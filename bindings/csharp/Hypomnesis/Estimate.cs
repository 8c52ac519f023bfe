// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>How elements lie packed, a scale for each group of them.</summary>
public sealed record Packing
{
    /// <summary>Of an element.</summary>
    public Dtype Dtype { get; init; }
    /// <summary>Instead of <see cref="Dtype"/>, for elements of 2, 3 or 5 bits.</summary>
    public uint ElementBits { get; init; }
    /// <summary>Elements that share a scale; 0: no groups.</summary>
    public uint GroupSize { get; init; }
    /// <summary>What a group holds in addition to its elements: scale, zero point.</summary>
    public uint GroupBits { get; init; }
}

/// <summary>One layer of attention at work.</summary>
public sealed record Attention
{
    /// <summary>How it works.</summary>
    public AttentionFlags Flags { get; init; }
    /// <summary>What its numbers are stored as.</summary>
    public Dtype Dtype { get; init; }
    /// <summary>Sequences at once; 0 = 1.</summary>
    public ulong Batch { get; init; }
    /// <summary>Heads of the queries.</summary>
    public ulong Heads { get; init; }
    /// <summary>Heads of keys and values; 0 = <see cref="Heads"/>.</summary>
    public ulong KvHeads { get; init; }
    /// <summary>Tokens.</summary>
    public ulong Sequence { get; init; }
    /// <summary>Elements of a head.</summary>
    public ulong HeadDim { get; init; }
}

/// <summary>The cache of layers that are alike. What its kind has no use for is 0; a hybrid model is the sum
/// of several.</summary>
public sealed record Cache
{
    /// <summary>What the layers keep.</summary>
    public CacheKind Kind { get; init; }
    /// <summary>Of an element.</summary>
    public Dtype Dtype { get; init; }
    /// <summary>As in <see cref="Packing"/>; a row is one head's key or value, the latent vector, or the state
    /// of one layer.</summary>
    public uint ElementBits { get; init; }
    /// <summary>As in <see cref="Packing"/>.</summary>
    public uint GroupSize { get; init; }
    /// <summary>As in <see cref="Packing"/>.</summary>
    public uint GroupBits { get; init; }
    /// <summary>Layers that have such a cache.</summary>
    public ulong Layers { get; init; }
    /// <summary>Full, window: heads that have keys and values of their own.</summary>
    public ulong KvHeads { get; init; }
    /// <summary>Full, window: elements of one head's key, or of its value.</summary>
    public ulong RowDim { get; init; }
    /// <summary>Window: tokens kept in addition to the sinks.</summary>
    public ulong Window { get; init; }
    /// <summary>Window: first tokens that are kept for good.</summary>
    public ulong Sinks { get; init; }
    /// <summary>Latent: kv_lora_rank + qk_rope_head_dim.</summary>
    public ulong LatentDim { get; init; }
    /// <summary>State: of one layer, its convolution's too.</summary>
    public ulong StateElements { get; init; }
}

/// <summary>What a model will need, by arithmetic alone: no driver is asked, no context needed. A result that
/// does not fit 64 bits throws <see cref="HypomnesisException"/> with <see cref="Status.Overflow"/>, what makes
/// no sense <see cref="HypomnesisRangeException"/> or <see cref="ArgumentException"/>.</summary>
public static class Estimate
{
    /// <summary>How many bits such a number has; 0 for one that the library does not know.</summary>
    /// <param name="dtype">The dtype.</param>
    public static uint BitsOf(Dtype dtype)
    {
        Libraries.Ensure();
        return Raw.dtype_bits((uint)dtype);
    }

    /// <summary>The dtype that candle, torch, safetensors, numpy or C call so: "F32", "torch.float32", "fp8".
    /// The number in a name is of bits: "f4" has 4.</summary>
    /// <param name="name">The name.</param>
    /// <exception cref="ArgumentException">No such name.</exception>
    public static Dtype DtypeFrom(string name)
    {
        Libraries.Ensure();
        var error = Native.NewError();
        return (Dtype)Checked(Raw.dtype_from_name(name, ref error), ref error);
    }

    /// <summary>Bytes of a tensor; without a dimension it is one element.</summary>
    /// <param name="shape">Its dimensions.</param>
    /// <param name="dtype">What its elements are stored as.</param>
    public static ulong Tensor(ulong[] shape, Dtype dtype)
    {
        Libraries.Ensure();
        Given(shape, nameof(shape));
        var error = Native.NewError();
        return Checked(Raw.estimate_tensor(shape, (uint)shape.Length, (uint)dtype, ref error), ref error);
    }

    /// <summary>Bytes of a tensor whose elements lie in groups along the last dimension.</summary>
    /// <param name="shape">Its dimensions.</param>
    /// <param name="packing">How its elements lie.</param>
    public static ulong Packed(ulong[] shape, Packing packing)
    {
        Libraries.Ensure();
        Given(shape, nameof(shape));
        Given(packing, nameof(packing));
        var error = Native.NewError();
        return Checked(Raw.estimate_packed(shape, (uint)shape.Length, (uint)packing.Dtype, packing.ElementBits,
            packing.GroupSize, packing.GroupBits, ref error), ref error);
    }

    /// <summary>Bytes of queries, keys, values, scores and output of one layer.</summary>
    /// <param name="layer">The layer.</param>
    public static ulong Attention(Attention layer)
    {
        Libraries.Ensure();
        Given(layer, nameof(layer));
        var error = Native.NewError();
        return Checked(Raw.estimate_attention((uint)layer.Flags, (uint)layer.Dtype, layer.Batch, layer.Heads,
            layer.KvHeads, layer.Sequence, layer.HeadDim, ref error), ref error);
    }

    /// <summary>Bytes of a cache.</summary>
    /// <param name="cache">The layers.</param>
    /// <param name="sequence">Tokens that are in it.</param>
    /// <param name="sequences">Sequences of that length: batch times users.</param>
    public static ulong Cache(Cache cache, ulong sequence, ulong sequences = 1)
    {
        Libraries.Ensure();
        Given(cache, nameof(cache));
        var error = Native.NewError();
        return Checked(Raw.estimate_cache((uint)cache.Kind, (uint)cache.Dtype, cache.ElementBits, cache.GroupSize,
            cache.GroupBits, cache.Layers, cache.KvHeads, cache.RowDim, cache.Window, cache.Sinks,
            cache.LatentDim, cache.StateElements, sequence, sequences, ref error), ref error);
    }

    /// <summary>bytes * perThousand / 1000, rounded up.</summary>
    /// <param name="bytes">The size.</param>
    /// <param name="perThousand">The factor; 0 = 1100.</param>
    public static ulong Overhead(ulong bytes, uint perThousand = 0)
    {
        Libraries.Ensure();
        var error = Native.NewError();
        return Checked(Raw.estimate_overhead(bytes, perThousand, ref error), ref error);
    }

    /// <summary>The sum of sizes.</summary>
    /// <param name="bytes">The sizes.</param>
    public static ulong Sum(params ulong[] bytes)
    {
        Libraries.Ensure();
        Given(bytes, nameof(bytes));
        var error = Native.NewError();
        return Checked(Raw.estimate_sum(bytes, (uint)bytes.Length, ref error), ref error);
    }

    private static void Given(object? value, string name)
    {
        if (value is null)
            throw new ArgumentNullException(name);
    }

    private static T Checked<T>(T value, ref ErrorRecord error)
    {
        HypomnesisException.ThrowOn(ref error);
        return value;
    }
}
