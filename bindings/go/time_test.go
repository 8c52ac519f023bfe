// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "testing"

func TestMonotonicNsIsTheClockOfSnapshots(t *testing.T) {
	context, err := NewContext(&ContextOptions{DeadlineMs: Unlimited, StaleMs: Immediate})
	if err != nil {
		t.Fatal(err)
	}
	defer context.Close()
	before := MonotonicNs()
	snapshot, err := context.Take(&SnapshotOptions{Collect: CollectMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	info := snapshot.Info()
	if info.MonotonicNs < before || info.MonotonicNs > MonotonicNs() {
		t.Fatalf("%d is not from %d to now", info.MonotonicNs, before)
	}
}

func TestAnUnlimitedIntervalIsRefused(t *testing.T) {
	context, err := NewContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer context.Close()
	if _, err := context.NewSampler(&SamplerOptions{IntervalMs: Unlimited}, nil); err == nil {
		t.Fatal("a sampler without an interval")
	}
	sampler, err := context.NewSampler(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sampler.Close()
	if handle, err := sampler.Handle(); err != nil || handle < 0 {
		t.Fatal(handle, err)
	}
}
