// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"context"

	"hypomnesis.invalid/bindings/go"
)

func estimateTensor(r request) (uint64, error) {
	dtype, err := hypomnesis.DtypeFromName(r[3])
	if err != nil {
		return 0, err
	}
	return hypomnesis.EstimateTensor([]uint64{r.u64(1), r.u64(2)}, dtype)
}

func estimateCache(r request) (uint64, error) {
	return hypomnesis.EstimateCache(hypomnesis.Cache{Kind: hypomnesis.CacheKind(r.u32(1)),
		Packing: hypomnesis.Packing{Dtype: hypomnesis.DtypeF16}, Layers: r.u64(2), KvHeads: r.u64(3),
		RowDim: r.u64(4)}, r.u64(5), 1)
}

func estimatePacked(r request) (uint64, error) {
	dtype, err := hypomnesis.DtypeFromName(r[3])
	if err != nil {
		return 0, err
	}
	return hypomnesis.EstimatePacked([]uint64{r.u64(1), r.u64(2)},
		hypomnesis.Packing{Dtype: dtype, GroupSize: r.u32(4), GroupBits: r.u32(5)})
}

func estimateAttention(r request) (uint64, error) {
	layer := hypomnesis.Attention{Dtype: hypomnesis.DtypeF16, Heads: r.u64(1), KvHeads: r.u64(2),
		Sequence: r.u64(3), HeadDim: r.u64(4)}
	if r.u32(5) != 0 {
		layer.Flags = hypomnesis.AttentionFused
	}
	return hypomnesis.EstimateAttention(layer)
}

func dtypeBits(r request) (uint32, error) {
	dtype, err := hypomnesis.DtypeFromName(r[1])
	return dtype.Bits(), err
}

func (a *agent) track(r request) {
	tracker, err := a.context.NewTracker(0, &hypomnesis.TrackerOptions{LimitBytes: hypomnesis.Some(r.u64(1))})
	if a.check(err) {
		a.tracker = tracker
	}
}

func (a *agent) fits(r request) (uint32, error) {
	fits, err := a.tracker.WouldFit(context.Background(), r.u64(1))
	if fits {
		return 1, err
	}
	return 0, err
}

var trackerCommands = map[string]command{
	"estimate_tensor": {3, func(a *agent, r request) {
		answerValue(a, func() (uint64, error) { return estimateTensor(r) })
	}},
	"estimate_cache": {5, func(a *agent, r request) {
		answerValue(a, func() (uint64, error) { return estimateCache(r) })
	}},
	"estimate_packed": {5, func(a *agent, r request) {
		answerValue(a, func() (uint64, error) { return estimatePacked(r) })
	}},
	"estimate_attention": {5, func(a *agent, r request) {
		answerValue(a, func() (uint64, error) { return estimateAttention(r) })
	}},
	"estimate_overhead": {2, func(a *agent, r request) {
		answerValue(a, func() (uint64, error) { return hypomnesis.EstimateOverhead(r.u64(1), r.u32(2)) })
	}},
	"estimate_sum": {2, func(a *agent, r request) {
		answerValue(a, func() (uint64, error) { return hypomnesis.EstimateSum(r.u64(1), r.u64(2)) })
	}},
	"dtype_bits": {1, func(a *agent, r request) {
		answerValue(a, func() (uint32, error) { return dtypeBits(r) })
	}},
	"track_limit": {1, func(a *agent, r request) { a.check(a.tracker.SetLimit(r.optional(1))) }},
	"track_reset": {0, func(a *agent, r request) { a.check(a.tracker.Reset()) }},
	"track":       {1, (*agent).track},
	"track_tag": {1, func(a *agent, r request) {
		answerValue(a, func() (uint32, error) { return a.tracker.Tag(r[1]) })
	}},
	"track_allocate": {2, func(a *agent, r request) { a.check(a.tracker.AllocateTagged(r.u32(2), r.u64(1))) }},
	"track_release":  {2, func(a *agent, r request) { a.check(a.tracker.ReleaseTagged(r.u32(2), r.u64(1))) }},
	"track_fits": {1, func(a *agent, r request) {
		answerValue(a, func() (uint32, error) { return a.fits(r) })
	}},
	"track_info": {0, func(a *agent, r request) { answerRecord(a, a.tracker.Info) }},
	"track_read_tag": {1, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Tag, error) { return a.tracker.ReadTag(r.u32(1)) })
	}},
}
