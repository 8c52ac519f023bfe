// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestMonotonicNsIsTheClockOfSnapshots(t *testing.T) {
	context, err := NewContext(&ContextOptions{Deadline: Unlimited, Stale: Immediate})
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

func TestDurationsAreInNanosecondsAndNotNegative(t *testing.T) {
	for _, duration := range []time.Duration{-time.Second, 500} {
		_, err := NewContext(&ContextOptions{Stale: duration})
		if !errors.Is(err, ErrRange) || !strings.Contains(strings.ToLower(err.Error()), "stale") {
			t.Fatalf("%v: %v", duration, err)
		}
	}
	context, err := NewContext(&ContextOptions{MaxAge: 100 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	defer context.Close()
	sampler, err := context.NewSampler(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sampler.Close()
	if _, err := sampler.Next(-1); !errors.Is(err, ErrRange) {
		t.Fatal(err)
	}
}

func TestUnlimitedIntervalIsRefused(t *testing.T) {
	context, err := NewContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer context.Close()
	if _, err := context.NewSampler(&SamplerOptions{Interval: Unlimited}, nil); err == nil {
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
