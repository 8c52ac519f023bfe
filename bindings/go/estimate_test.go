// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"math"
	"testing"
)

func TestDtypesHaveNamesAndBits(t *testing.T) {
	dtype, err := DtypeFromName("torch.bfloat16")
	if err != nil || dtype != DtypeBF16 || dtype.String() != "bf16" || dtype.Bits() != 16 {
		t.Errorf("torch.bfloat16 is %v, %v", dtype, err)
	}
	if _, err := DtypeFromName("invalid"); !isError(err, ErrArgument) {
		t.Errorf("invalid: %v", err)
	}
}

func TestEstimatesReturnBytes(t *testing.T) {
	full := Cache{Packing: Packing{Dtype: DtypeF16}, Layers: 80, KvHeads: 8, RowDim: 128}
	windowed := full
	windowed.Kind, windowed.Window, windowed.Sinks = CacheWindow, 2044, 4
	latent := Cache{Kind: CacheLatent, Packing: Packing{Dtype: DtypeBF16}, Layers: 61, LatentDim: 576}
	states := Cache{Kind: CacheState, Packing: Packing{Dtype: DtypeF16}, Layers: 48, StateElements: 64}
	layer := Attention{Dtype: DtypeF32, Heads: 1, Sequence: 4, HeadDim: 2}
	fused := layer
	fused.Flags = AttentionFused
	for i, test := range []struct {
		estimate func() (uint64, error)
		expected uint64
	}{
		{func() (uint64, error) { return EstimateTensor([]uint64{10, 100}, DtypeF32) }, 4000},
		{func() (uint64, error) { return EstimateTensor(nil, DtypeF32) }, 4},
		{func() (uint64, error) { return EstimatePacked([]uint64{2, 32}, Packing{DtypeI4, 0, 32, 16}) }, 36},
		{func() (uint64, error) { return EstimateAttention(layer) }, 192},
		{func() (uint64, error) { return EstimateAttention(fused) }, 128},
		{func() (uint64, error) { return EstimateCache(full, 1, 1) }, 163840},
		{func() (uint64, error) { return EstimateCache(windowed, 10000, 1) }, 335544320},
		{func() (uint64, error) { return EstimateCache(latent, 1, 1) }, 61 * 1152},
		{func() (uint64, error) { return EstimateCache(states, 1024, 2) }, 12288},
		{func() (uint64, error) { return EstimateOverhead(1000, 0) }, 1100},
		{func() (uint64, error) { return EstimateSum(1, 2, 3) }, 6},
		{func() (uint64, error) { return EstimateSum() }, 0},
	} {
		if actual, err := test.estimate(); err != nil || actual != test.expected {
			t.Errorf("estimate %d is %d, %v, not %d", i, actual, err, test.expected)
		}
	}
	if _, err := EstimateTensor([]uint64{math.MaxUint64, 2}, DtypeU8); !isError(err, ErrOverflow) {
		t.Errorf("too large: %v", err)
	}
	if _, err := DtypeFromName("f32\x00"); !isError(err, ErrArgument) {
		t.Errorf("a name with a NUL byte: %v", err)
	}
	if _, err := EstimateTensor([]uint64{1}, DtypeUnknown); !isError(err, ErrRange) {
		t.Errorf("no dtype: %v", err)
	}
}
