// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Hypomnesis.Interop;

namespace Hypomnesis;

/// <summary>How elements are packed, with a scale for each group of them.</summary>
public sealed record Packing
{
    /// <summary>Of an element.</summary>
    public Dtype Dtype { get; init; }
    /// <summary>Instead of <see cref="Dtype"/>, for elements of 2, 3 or 5 bits.</summary>
    public uint ElementBits { get; init; }
    /// <summary>Elements that share a scale; 0: no groups.</summary>
    public uint GroupSize { get; init; }
    /// <summary>Bits of a group in addition to its elements: scale, zero point.</summary>
    public uint GroupBits { get; init; }
}

/// <summary>One layer of attention.</summary>
public sealed record Attention
{
    /// <summary>Its flags.</summary>
    public AttentionFlags Flags { get; init; }
    /// <summary>The dtype of its numbers.</summary>
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

/// <summary>The cache of equal layers. Members that the kind does not use are 0; a hybrid model is the sum
/// of several.</summary>
public sealed record Cache
{
    /// <summary>The kind of the cache.</summary>
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
    /// <summary>State: elements of one layer, including its convolution's.</summary>
    public ulong StateElements { get; init; }
}

/// <summary>The memory that a model will need, by arithmetic alone, without drivers or a context. A result that
/// does not fit 64 bits throws <see cref="HypomnesisException"/> with <see cref="Status.Overflow"/>, a wrong
/// argument <see cref="HypomnesisRangeException"/> or <see cref="ArgumentException"/>.</summary>
public static class Estimate
{
    /// <summary>How many bits such a number has; 0 for one that the library does not know.</summary>
    /// <param name="dtype">The dtype.</param>
    public static uint BitsOf(Dtype dtype)
    {
        Libraries.Ensure();
        return Raw.dtype_bits((uint)dtype);
    }

    /// <summary>The dtype by its name in candle, torch, safetensors, numpy or C: "F32", "torch.float32", "fp8".
    /// The number in a name counts bits: "f4" has 4.</summary>
    /// <param name="name">The name.</param>
    /// <exception cref="ArgumentException">No such name.</exception>
    public static Dtype DtypeFrom(string name)
    {
        Libraries.Ensure();
        var error = Native.NewError();
        return (Dtype)CheckResult(Raw.dtype_from_name(name, ref error), ref error);
    }

    /// <summary>Bytes of a tensor; without a dimension it is one element.</summary>
    /// <param name="shape">Its dimensions.</param>
    /// <param name="dtype">The dtype of its elements.</param>
    public static ulong Tensor(ulong[] shape, Dtype dtype)
    {
        Libraries.Ensure();
        RequireNotNull(shape, nameof(shape));
        var error = Native.NewError();
        return CheckResult(Raw.estimate_tensor(shape, (uint)shape.Length, (uint)dtype, ref error), ref error);
    }

    /// <summary>Bytes of a tensor whose elements lie in groups along the last dimension.</summary>
    /// <param name="shape">Its dimensions.</param>
    /// <param name="packing">How its elements are packed.</param>
    public static ulong Packed(ulong[] shape, Packing packing)
    {
        Libraries.Ensure();
        RequireNotNull(shape, nameof(shape));
        RequireNotNull(packing, nameof(packing));
        var error = Native.NewError();
        return CheckResult(Raw.estimate_packed(shape, (uint)shape.Length, (uint)packing.Dtype, packing.ElementBits,
            packing.GroupSize, packing.GroupBits, ref error), ref error);
    }

    /// <summary>Bytes of queries, keys, values, scores and output of one layer.</summary>
    /// <param name="layer">The layer.</param>
    public static ulong Attention(Attention layer)
    {
        Libraries.Ensure();
        RequireNotNull(layer, nameof(layer));
        var error = Native.NewError();
        return CheckResult(Raw.estimate_attention((uint)layer.Flags, (uint)layer.Dtype, layer.Batch, layer.Heads,
            layer.KvHeads, layer.Sequence, layer.HeadDim, ref error), ref error);
    }

    /// <summary>Bytes of a cache.</summary>
    /// <param name="cache">The layers.</param>
    /// <param name="sequence">Tokens that are in it.</param>
    /// <param name="sequences">Sequences of that length: batch times users.</param>
    public static ulong Cache(Cache cache, ulong sequence, ulong sequences = 1)
    {
        Libraries.Ensure();
        RequireNotNull(cache, nameof(cache));
        var error = Native.NewError();
        return CheckResult(Raw.estimate_cache((uint)cache.Kind, (uint)cache.Dtype, cache.ElementBits, cache.GroupSize,
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
        return CheckResult(Raw.estimate_overhead(bytes, perThousand, ref error), ref error);
    }

    /// <summary>The sum of sizes.</summary>
    /// <param name="bytes">The sizes.</param>
    public static ulong Sum(params ulong[] bytes)
    {
        Libraries.Ensure();
        RequireNotNull(bytes, nameof(bytes));
        var error = Native.NewError();
        return CheckResult(Raw.estimate_sum(bytes, (uint)bytes.Length, ref error), ref error);
    }

    private static void RequireNotNull(object? value, string name)
    {
        if (value is null)
            throw new ArgumentNullException(name);
    }

    private static T CheckResult<T>(T value, ref ErrorRecord error)
    {
        HypomnesisException.ThrowIfFailed(ref error);
        return value;
    }
}
