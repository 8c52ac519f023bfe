// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"fmt"
	"math"

	"hypomnesis.invalid/bindings/go/internal/raw"
)

// Estimates are arithmetic alone: they ask no driver and need no context. ErrOverflow: the result does not
// fit 64 bits.

// String is the dtype's name, for instance "bf16"; "unknown" for one that the library does not know.
func (d Dtype) String() string {
	return raw.Dtype_name(uint32(d))
}

// Bits is how many bits such a number has; 0 for a dtype that the library does not know.
func (d Dtype) Bits() uint32 {
	return raw.Dtype_bits(uint32(d))
}

// DtypeFromName is the dtype that candle, torch, safetensors, numpy or C call so: "F32", "torch.float32",
// "fp8". The number in a name is of bits: "f4" has 4. ErrArgument: no such name.
func DtypeFromName(name string) (Dtype, error) {
	given, err := argument("name", name)
	if err != nil {
		return DtypeUnknown, err
	}
	failure := raw.NewError()
	return checked(Dtype(raw.DtypeFromName(given, failure)), failure)
}

// Packing describes how elements lie, a scale for each group of them.
type Packing struct {
	Dtype       Dtype  // of an element
	ElementBits uint32 // instead of Dtype, for elements of 2, 3 or 5 bits
	GroupSize   uint32 // elements that share a scale; 0: no groups
	GroupBits   uint32 // what a group holds in addition to its elements: scale, zero point
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

// Cache is the cache of layers that are alike. Keys and values are two caches, which EstimateSum adds. What
// its kind has no use for is 0.
type Cache struct {
	Kind          CacheKind
	Packing              // a row is one head's key or value, the latent vector, or the state of a layer
	Layers        uint64 // that have such a cache
	KvHeads       uint64 // full, window
	RowDim        uint64 // full, window: elements of one head's key, or of its value
	Window        uint64 // window: tokens kept in addition to the sinks
	Sinks         uint64 // window: first tokens that are kept for good
	LatentDim     uint64 // latent: kv_lora_rank + qk_rope_head_dim
	StateElements uint64 // state: of one layer, its convolution's too
}

// ofList makes an estimate of a list, whose length is an uint32_t in C.
func ofList(list []uint64, call func(failure *raw.Error) uint64) (uint64, error) {
	if uint64(len(list)) > math.MaxUint32 {
		return 0, refusal(StatusRange, fmt.Sprintf("a list of %d numbers: the most is %d", len(list), uint32(math.MaxUint32)))
	}
	failure := raw.NewError()
	return checked(call(failure), failure)
}

// EstimateTensor is the bytes of a tensor; without a dimension it is one element.
func EstimateTensor(shape []uint64, dtype Dtype) (uint64, error) {
	return ofList(shape, func(failure *raw.Error) uint64 { return raw.EstimateTensor(shape, uint32(dtype), failure) })
}

// EstimatePacked is the bytes of a tensor whose elements lie in groups along the last dimension.
func EstimatePacked(shape []uint64, p Packing) (uint64, error) {
	return ofList(shape, func(failure *raw.Error) uint64 {
		return raw.EstimatePacked(shape, uint32(p.Dtype), p.ElementBits, p.GroupSize, p.GroupBits, failure)
	})
}

// EstimateAttention is the bytes of queries, keys, values, scores and output of one layer.
func EstimateAttention(a Attention) (uint64, error) {
	failure := raw.NewError()
	return checked(raw.EstimateAttention(uint32(a.Flags), uint32(a.Dtype), a.Batch, a.Heads, a.KvHeads, a.Sequence,
		a.HeadDim, failure), failure)
}

// EstimateCache is the bytes of a cache once sequence tokens are in it, for sequences of them: batch times
// users. A hybrid model is the sum of several.
func EstimateCache(c Cache, sequence, sequences uint64) (uint64, error) {
	failure := raw.NewError()
	return checked(raw.EstimateCache(uint32(c.Kind), uint32(c.Dtype), c.ElementBits, c.GroupSize, c.GroupBits,
		c.Layers, c.KvHeads, c.RowDim, c.Window, c.Sinks, c.LatentDim, c.StateElements, sequence,
		sequences, failure), failure)
}

// EstimateOverhead is bytes * perThousand / 1000, rounded up; 0 is 1100, a tenth more.
func EstimateOverhead(bytes uint64, perThousand uint32) (uint64, error) {
	failure := raw.NewError()
	return checked(raw.EstimateOverhead(bytes, perThousand, failure), failure)
}

// EstimateSum is the sum of sizes.
func EstimateSum(bytes ...uint64) (uint64, error) {
	return ofList(bytes, func(failure *raw.Error) uint64 { return raw.EstimateSum(bytes, failure) })
}
