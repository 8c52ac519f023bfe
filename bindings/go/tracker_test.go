// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"sync"
	"testing"
)

func newLimitedTracker(t *testing.T, bytes Optional[uint64]) *Tracker {
	t.Helper()
	tracker, err := NewTracker(&TrackerOptions{LimitBytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tracker.Close() })
	return tracker
}

func TestTrackerKeepsToItsLimit(t *testing.T) {
	tracker := newLimitedTracker(t, Some(uint64(1000)))
	if err := tracker.Allocate(900); err != nil {
		t.Fatal(err)
	}
	if err := tracker.Allocate(200); !isError(err, ErrLimit) {
		t.Errorf("above the limit: %v", err)
	}
	if fits, err := tracker.WouldFit(background, 100); err != nil || !fits {
		t.Errorf("100 do not fit: %v", err)
	}
	if fits, err := tracker.WouldFit(background, 101); err != nil || fits {
		t.Errorf("101 fit: %v", err)
	}
	if err := tracker.Release(901); !isError(err, ErrRange) {
		t.Errorf("more than is allocated: %v", err)
	}
	if err := tracker.Release(400); err != nil {
		t.Fatal(err)
	}
	info, err := tracker.Info()
	expected := TrackerInfo{LimitBytes: Some(uint64(1000)), AllocatedBytes: 500, PeakBytes: 900, RefusedCount: 1}
	if err != nil || info != expected {
		t.Errorf("it reports %+v, %v", info, err)
	}
	if err := tracker.SetLimit(Some(uint64(499))); !isError(err, ErrLimit) {
		t.Errorf("below what is allocated: %v", err)
	}
	if err := tracker.SetLimit(Optional[uint64]{}); err != nil {
		t.Error(err)
	}
	if err := tracker.Reset(); err != nil {
		t.Error(err)
	}
	if info, err := tracker.Info(); err != nil || info != (TrackerInfo{}) {
		t.Errorf("after a reset it reports %+v, %v", info, err)
	}
}

func TestTrackerWithLimitZeroAllowsNothing(t *testing.T) {
	if err := newLimitedTracker(t, Some(uint64(0))).Allocate(1); !isError(err, ErrLimit) {
		t.Errorf("made with a limit of 0: %v", err)
	}
	tracker := newLimitedTracker(t, Optional[uint64]{})
	if err := tracker.SetLimit(Some(uint64(0))); err != nil {
		t.Error(err)
	}
	if err := tracker.Allocate(1); !isError(err, ErrLimit) {
		t.Errorf("set to 0: %v", err)
	}
}

func TestTrackerCountsBytesByTag(t *testing.T) {
	tracker := newLimitedTracker(t, Optional[uint64]{})
	weights, err := tracker.Tag("weights")
	if second, _ := tracker.Tag("weights"); err != nil || second != weights {
		t.Fatalf("the tag is %d, then %d, %v", weights, second, err)
	}
	if err := tracker.AllocateTagged(weights, 300); err != nil {
		t.Fatal(err)
	}
	if err := tracker.ReleaseTagged(weights, 100); err != nil {
		t.Fatal(err)
	}
	tag, err := tracker.ReadTag(weights)
	expected := Tag{Number: weights, AllocatedBytes: 200, PeakBytes: 300, Name: "weights"}
	if err != nil || tag != expected {
		t.Errorf("it reports %+v, %v", tag, err)
	}
	if _, err := tracker.Tag("weights\x00"); !isError(err, ErrArgument) {
		t.Errorf("a name with a NUL byte: %v", err)
	}
	if err := tracker.AllocateTagged(2, 1); !isError(err, ErrRange) {
		t.Errorf("no such tag: %v", err)
	}
}

func TestLinkedTrackerAsksTheDevice(t *testing.T) {
	hmn := openMachine(t, card)
	tracker, err := hmn.NewTracker(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tracker.Close()
	hmn.Close()
	const usable = uint64(13) << 30
	if fits, err := tracker.WouldFit(background, usable); err != nil || !fits {
		t.Errorf("what is free does not fit: %v", err)
	}
	if fits, err := tracker.WouldFit(background, usable+1); err != nil || fits {
		t.Errorf("more than is free fits: %v", err)
	}
	if info, err := tracker.Info(); err != nil || info.DeviceIndex != Some(uint32(0)) {
		t.Errorf("it reports %+v, %v", info, err)
	}
}

func TestTrackerIsSharedByGoroutines(t *testing.T) {
	tracker := newLimitedTracker(t, Some(uint64(1000)))
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 1000; j++ {
				if tracker.Allocate(300) == nil {
					if err := tracker.Release(300); err != nil {
						t.Error(err)
					}
				}
			}
		}()
	}
	group.Wait()
	if info, err := tracker.Info(); err != nil || info.AllocatedBytes != 0 || info.PeakBytes > 900 {
		t.Errorf("it reports %+v, %v", info, err)
	}
}

func TestClosedTrackerReturnsErrClosed(t *testing.T) {
	tracker := newLimitedTracker(t, Optional[uint64]{})
	tracker.Close()
	tracker.Close()
	if err := tracker.Allocate(1); !isError(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
