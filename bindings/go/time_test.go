// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestMonotonicIsTheClockOfSnapshots(t *testing.T) {
	hmn, err := NewContext(&ContextOptions{Deadline: Unlimited, Stale: Immediate})
	if err != nil {
		t.Fatal(err)
	}
	defer hmn.Close()
	before := Monotonic()
	snapshot, err := hmn.Take(background, &SnapshotOptions{Collect: CollectMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	info := snapshot.Info()
	if info.Monotonic < before || info.Monotonic > Monotonic() {
		t.Fatalf("%v is not from %v to now", info.Monotonic, before)
	}
}

func TestDurationsAreInNanosecondsAndNotNegative(t *testing.T) {
	for _, duration := range []time.Duration{-time.Second, 500} {
		_, err := NewContext(&ContextOptions{Stale: duration})
		if !errors.Is(err, ErrRange) || !strings.Contains(strings.ToLower(err.Error()), "stale") {
			t.Fatalf("%v: %v", duration, err)
		}
	}
	hmn, err := NewContext(&ContextOptions{MaxAge: 100 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	defer hmn.Close()
	if _, err := hmn.NewSampler(&SamplerOptions{Interval: -1}, nil); !errors.Is(err, ErrRange) {
		t.Fatal(err)
	}
}

func TestUnlimitedIntervalIsRefused(t *testing.T) {
	hmn, err := NewContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer hmn.Close()
	if _, err := hmn.NewSampler(&SamplerOptions{Interval: Unlimited}, nil); err == nil {
		t.Fatal("a sampler without an interval")
	}
	sampler, err := hmn.NewSampler(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sampler.Close()
	if handle, err := sampler.Handle(); err != nil || handle < 0 {
		t.Fatal(handle, err)
	}
}
