// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using Xunit;

namespace Hypomnesis.Tests;

/// <summary>Estimates.</summary>
public class EstimateTest
{
    [Fact]
    public void DtypesHaveNamesAndBits()
    {
        Assert.Equal(Dtype.Bf16, Estimate.DtypeFrom("torch.bfloat16"));
        Assert.Equal("f8e4m3", Library.NameOf(Dtype.F8e4m3));
        Assert.Equal(4u, Estimate.BitsOf(Dtype.I4));
        Assert.ThrowsAny<ArgumentException>(() => Estimate.DtypeFrom("invalid"));
    }

    [Fact]
    public void TensorEstimatesAreExactAndRefuseOverflow()
    {
        Assert.Equal(4000ul, Estimate.Tensor([10, 100], Dtype.F32));
        Assert.Equal(4ul, Estimate.Tensor([], Dtype.F32));
        var packing = new Packing { Dtype = Dtype.I4, GroupSize = 32, GroupBits = 16 };
        Assert.Equal(36ul, Estimate.Packed([2, 32], packing));
        var overflow = Assert.Throws<HypomnesisException>(() => Estimate.Tensor([ulong.MaxValue, 2], Dtype.U8));
        Assert.Equal(Status.Overflow, overflow.Status);
        Assert.Throws<HypomnesisRangeException>(() => Estimate.Tensor([1], Dtype.Unknown));
    }

    [Fact]
    public void AttentionCacheOverheadAndSumEstimatesAreExact()
    {
        var layer = new Attention { Dtype = Dtype.F32, Heads = 1, Sequence = 4, HeadDim = 2 };
        Assert.Equal(192ul, Estimate.Attention(layer));
        Assert.Equal(128ul, Estimate.Attention(layer with { Flags = AttentionFlags.Fused }));
        var full = new Cache { Dtype = Dtype.F16, Layers = 80, KvHeads = 8, RowDim = 128 };
        Assert.Equal(163840ul, Estimate.Cache(full, 1));
        var windowed = full with { Kind = CacheKind.Window, Window = 2044, Sinks = 4 };
        Assert.Equal(335544320ul, Estimate.Cache(windowed, 10000));
        var latent = new Cache { Kind = CacheKind.Latent, Dtype = Dtype.Bf16, Layers = 61, LatentDim = 576 };
        Assert.Equal(61ul * 1152, Estimate.Cache(latent, 1));
        Assert.Equal(1100ul, Estimate.Overhead(1000));
        Assert.Equal(1050ul, Estimate.Overhead(1000, 1050));
        Assert.Equal(6ul, Estimate.Sum(1, 2, 3));
    }
}
