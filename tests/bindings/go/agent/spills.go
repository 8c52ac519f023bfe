// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"hypomnesis.invalid/bindings/go"
)

func (a *agent) setSpill(spill *hypomnesis.Spill, err error) {
	if a.check(err) {
		a.spill = spill
	}
}

func spillOptions(r request, first int) *hypomnesis.SpillOptions {
	return &hypomnesis.SpillOptions{EpisodeCapacity: r.u32(first), DedicatedThresholdBytes: r.u64(first + 1),
		GrowthBytes: r.u64(first + 2)}
}

func (a *agent) newSpill(r request) {
	a.setSpill(a.context.NewSpill(r.u32(1), spillOptions(r, 2)))
}

func (a *agent) newFedSpill(r request) {
	a.setSpill(hypomnesis.NewLoneSpill(0, spillOptions(r, 1)))
}

func (r request) optional(i int) hypomnesis.Optional[uint64] {
	if r[i] == "-" {
		return hypomnesis.Optional[uint64]{}
	}
	return hypomnesis.Some(r.u64(i))
}

// feed has the words time, dedicated, shared, limit, evicted and label.
func (a *agent) feed(r request) {
	a.check(a.spill.Feed(hypomnesis.SpillSample{Monotonic: time.Duration(r.u64(1)), DedicatedBytes: r.u64(2), SharedBytes: r.u64(3),
		LimitBytes: r.optional(4), EvictedBytes: r.optional(5)}, r[6]))
}

// checkObservation is check, but an empty reading is a failure.
func (a *agent) checkObservation(err error) {
	var failure *hypomnesis.Error
	if errors.Is(err, hypomnesis.ErrEmpty) && errors.As(err, &failure) {
		a.writeField("error", failure.Status.String())
		a.writeField("message", failure.Message)
		return
	}
	a.check(err)
}

var spillCommands = map[string]command{
	"spill":         {4, (*agent).newSpill},
	"spill_fed":     {3, (*agent).newFedSpill},
	"spill_observe": {1, func(a *agent, r request) { a.checkObservation(a.spill.Observe(context.Background(), r[1])) }},
	"spill_snapshot": {2, func(a *agent, r request) {
		a.checkObservation(a.spill.ObserveSnapshot(a.snapshots[r[1]], r[2]))
	}},
	"spill_feed": {6, (*agent).feed},
	"spill_info": {0, func(a *agent, r request) { answerRecord(a, a.spill.Info) }},
	"spill_episode": {1, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Episode, error) { return a.spill.Episode(r.u64(1)) })
	}},
}
