// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"context"
	"io"
	"time"

	"hypomnesis.invalid/bindings/go"
)

func (a *agent) sample(r request) {
	a.sampleIdle(r)
	if sampler := a.samplers[r[1]]; sampler != nil {
		a.check(sampler.Start())
	}
}

// sampleIdle makes a sampler that is not started.
func (a *agent) sampleIdle(r request) {
	delete(a.samplers, r[1])
	sampler, err := a.context.NewSampler(&hypomnesis.SamplerOptions{Interval: time.Hour},
		&hypomnesis.SnapshotOptions{Collect: hypomnesis.Collect(r.u32(2))})
	if a.check(err) {
		a.samplers[r[1]] = sampler
	}
}

// sampleNext answers with what a wait for a snapshot ended in: sample, timeout or end.
func (a *agent) sampleNext(r request) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.u32(3))*time.Millisecond)
	defer cancel()
	snapshot, err := a.samplers[r[1]].Next(ctx)
	switch {
	case err == context.DeadlineExceeded:
		a.writeValue("timeout")
	case err == io.EOF:
		a.writeValue("end")
	case a.check(err):
		a.writeValue("sample")
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
	"sample_idle": {2, (*agent).sampleIdle},
	"sample_next": {3, (*agent).sampleNext},
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
