// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"errors"

	"hypomnesis.invalid/bindings/go"
)

func (a *agent) detects(spill *hypomnesis.Spill, err error) {
	if a.done(err) {
		a.spill = spill
	}
}

func spillOptions(r request, first int) *hypomnesis.SpillOptions {
	return &hypomnesis.SpillOptions{EpisodeCapacity: r.u32(first), DedicatedThresholdBytes: r.u64(first + 1),
		GrowthBytes: r.u64(first + 2)}
}

func (a *agent) spillOf(r request) {
	a.detects(a.context.NewSpill(r.u32(1), spillOptions(r, 2)))
}

func (a *agent) spillFed(r request) {
	a.detects(hypomnesis.NewLoneSpill(0, spillOptions(r, 1)))
}

func (r request) maybe(i int) hypomnesis.Optional[uint64] {
	if r[i] == "-" {
		return hypomnesis.Optional[uint64]{}
	}
	return hypomnesis.Some(r.u64(i))
}

// feed is when, dedicated, shared, limit and evicted, and the label.
func (a *agent) feed(r request) {
	a.done(a.spill.Feed(hypomnesis.SpillSample{MonotonicNs: r.u64(1), DedicatedBytes: r.u64(2), SharedBytes: r.u64(3),
		LimitBytes: r.maybe(4), EvictedBytes: r.maybe(5)}, r[6]))
}

// observed is done, to which a reading of nothing is a failure.
func (a *agent) observed(err error) {
	var failure *hypomnesis.Error
	if errors.Is(err, hypomnesis.ErrEmpty) && errors.As(err, &failure) {
		a.field("error", failure.Status.String())
		a.field("message", failure.Message)
		return
	}
	a.done(err)
}

var spillCommands = map[string]command{
	"spill":          {4, (*agent).spillOf},
	"spill_fed":      {3, (*agent).spillFed},
	"spill_observe":  {1, func(a *agent, r request) { a.observed(a.spill.Observe(r[1])) }},
	"spill_snapshot": {2, func(a *agent, r request) { a.observed(a.spill.ObserveSnapshot(a.snapshots[r[1]], r[2])) }},
	"spill_feed":     {6, (*agent).feed},
	"spill_info":     {0, func(a *agent, r request) { add_record(a, a.spill.Info) }},
	"spill_episode": {1, func(a *agent, r request) {
		add_record(a, func() (hypomnesis.Episode, error) { return a.spill.Episode(r.u64(1)) })
	}},
}
