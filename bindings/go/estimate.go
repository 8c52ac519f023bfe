// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"fmt"
	"math"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// Estimates are arithmetic alone, without drivers or a context. ErrOverflow: the result does not fit 64 bits.

// String is the dtype's name, for instance "bf16"; "unknown" for one that the library does not know.
func (d Dtype) String() string {
	return raw.Dtype_name(uint32(d))
}

// Bits returns how many bits such a number has; 0 for a dtype that the library does not know.
func (d Dtype) Bits() uint32 {
	return raw.Dtype_bits(uint32(d))
}

// DtypeFromName returns the dtype by its name in candle, torch, safetensors, numpy or C: "F32",
// "torch.float32", "fp8". The number in a name counts bits: "f4" has 4. ErrArgument: no such name.
func DtypeFromName(name string) (Dtype, error) {
	cName, err := encodeText("name", name)
	if err != nil {
		return DtypeUnknown, err
	}
	failure := raw.NewError()
	return checkResult(Dtype(raw.DtypeFromName(cName, failure)), failure)
}

// Packing describes how elements lie, a scale for each group of them.
type Packing struct {
	Dtype       Dtype  // of an element
	ElementBits uint32 // instead of Dtype, for elements of 2, 3 or 5 bits
	GroupSize   uint32 // elements that share a scale; 0: no groups
	GroupBits   uint32 // bits of a group in addition to its elements: scale, zero point
}

// Attention is one layer of attention at work.
type Attention struct {
	Flags    AttentionFlags
	Dtype    Dtype
	Batch    uint64 // 0 is 1
	Heads    uint64 // of the queries
	KvHeads  uint64 // 0 is Heads
	Sequence uint64 // tokens
	HeadDim  uint64
}

// Cache is the cache of equal layers. Keys and values are two caches, which EstimateSum adds. Members that the
// kind does not use are 0.
type Cache struct {
	Kind          CacheKind
	Packing              // a row is one head's key or value, the latent vector, or the state of a layer
	Layers        uint64 // that have such a cache
	KvHeads       uint64 // full, window
	RowDim        uint64 // full, window: elements of one head's key, or of its value
	Window        uint64 // window: tokens kept in addition to the sinks
	Sinks         uint64 // window: first tokens that are kept for good
	LatentDim     uint64 // latent: kv_lora_rank + qk_rope_head_dim
	StateElements uint64 // state: those of one layer, including its convolution's
}

// estimateList makes an estimate from a list, whose length is a uint32_t in C.
func estimateList(list []uint64, call func(failure *raw.Error) uint64) (uint64, error) {
	if uint64(len(list)) > math.MaxUint32 {
		return 0, newRefusal(StatusRange,
			fmt.Sprintf("a list of %d numbers: the most is %d", len(list), uint32(math.MaxUint32)))
	}
	failure := raw.NewError()
	return checkResult(call(failure), failure)
}

// EstimateTensor returns the bytes of a tensor; without a dimension it is one element.
func EstimateTensor(shape []uint64, dtype Dtype) (uint64, error) {
	return estimateList(shape, func(failure *raw.Error) uint64 { return raw.EstimateTensor(shape, uint32(dtype), failure) })
}

// EstimatePacked returns the bytes of a tensor whose elements lie in groups along the last dimension.
func EstimatePacked(shape []uint64, packing Packing) (uint64, error) {
	return estimateList(shape, func(failure *raw.Error) uint64 {
		return raw.EstimatePacked(shape, uint32(packing.Dtype), packing.ElementBits, packing.GroupSize,
			packing.GroupBits, failure)
	})
}

// EstimateAttention returns the bytes of queries, keys, values, scores and output of one layer.
func EstimateAttention(layer Attention) (uint64, error) {
	failure := raw.NewError()
	return checkResult(raw.EstimateAttention(uint32(layer.Flags), uint32(layer.Dtype), layer.Batch, layer.Heads,
		layer.KvHeads, layer.Sequence, layer.HeadDim, failure), failure)
}

// EstimateCache returns the bytes of a cache of that many sequences, batch times users, with sequence tokens
// each. A hybrid model is the sum of several.
func EstimateCache(cache Cache, sequence, sequences uint64) (uint64, error) {
	failure := raw.NewError()
	return checkResult(raw.EstimateCache(uint32(cache.Kind), uint32(cache.Dtype), cache.ElementBits, cache.GroupSize,
		cache.GroupBits, cache.Layers, cache.KvHeads, cache.RowDim, cache.Window, cache.Sinks, cache.LatentDim,
		cache.StateElements, sequence, sequences, failure), failure)
}

// EstimateOverhead returns bytes * perThousand / 1000, rounded up; 0 is 1100, a tenth more.
func EstimateOverhead(bytes uint64, perThousand uint32) (uint64, error) {
	failure := raw.NewError()
	return checkResult(raw.EstimateOverhead(bytes, perThousand, failure), failure)
}

// EstimateSum returns the sum of sizes.
func EstimateSum(bytes ...uint64) (uint64, error) {
	return estimateList(bytes, func(failure *raw.Error) uint64 { return raw.EstimateSum(bytes, failure) })
}
