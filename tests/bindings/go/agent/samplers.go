// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"time"

	"hypomnesis.invalid/bindings/go"
)

func (a *agent) sample(r request) {
	sampler, err := a.context.NewSampler(&hypomnesis.SamplerOptions{Interval: time.Hour},
		&hypomnesis.SnapshotOptions{Collect: hypomnesis.Collect(r.u32(2))})
	if err == nil {
		err = sampler.Start()
	}
	if a.check(err) {
		a.samplers[r[1]] = sampler
	}
}

func (a *agent) sampleNext(r request) {
	snapshot, err := a.samplers[r[1]].Next(time.Minute)
	if a.check(err) {
		a.snapshot(r, 2).Close()
		a.snapshots[r[2]] = snapshot
	}
}

// answerLatest answers with a record that may be absent.
func answerLatest[T any](a *agent, read func(index uint32) (hypomnesis.Optional[T], error), index uint32) {
	latest, err := read(index)
	if !a.check(err) {
		return
	}
	if record, ok := latest.Get(); ok {
		a.writeRecord(record)
	} else {
		a.check(hypomnesis.ErrEmpty)
	}
}

var samplerCommands = map[string]command{
	"sample":      {2, (*agent).sample},
	"sample_next": {2, (*agent).sampleNext},
	"sample_stop": {1, func(a *agent, r request) { a.check(a.samplers[r[1]].Stop()) }},
	"sample_drop": {1, func(a *agent, r request) { a.check(a.samplers[r[1]].Close()) }},
	"sample_info": {1, func(a *agent, r request) { answerRecord(a, a.samplers[r[1]].Info) }},
	"sample_pool": {2, func(a *agent, r request) { answerLatest(a, a.samplers[r[1]].LatestPool, r.u32(2)) }},
	"sample_telemetry": {2, func(a *agent, r request) {
		answerLatest(a, a.samplers[r[1]].LatestTelemetry, r.u32(2))
	}},
	"sample_peak": {3, func(a *agent, r request) {
		answerRecord(a, func() (hypomnesis.Peak, error) { return a.samplers[r[1]].Peak(r.u32(2), r.u32(3)) })
	}},
	"sample_device_peak": {2, func(a *agent, r request) {
		answerLatest(a, a.samplers[r[1]].DevicePeak, r.u32(2))
	}},
}
