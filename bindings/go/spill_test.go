// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "testing"

const mib = uint64(1) << 20

func cards(vram, host string) string {
	return `"devices": [
	{"vendor": "amd", "pools": [{"kind": "vram", "total": "16GiB", "used": "` + vram + `"},
		{"kind": "host", "total": "32GiB", "used": "` + host + `"}]},
	{"pools": [{"kind": "unified", "total": "16GiB", "used": "1GiB"}]}]`
}

var fillsUp = `{` + cards("8GiB", "128MiB") + `, "changes": [
	{"at_reading": 3, ` + cards("15GiB", "384MiB") + `}, {"at_reading": 4, ` + cards("8GiB", "384MiB") + `}]}`

func spillInfo(t *testing.T, s *Spill) SpillInfo {
	t.Helper()
	info, err := s.Info()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestSpillOfADevice(t *testing.T) {
	spill, err := machine(t, fillsUp).NewSpill(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer spill.Close()
	rules := []SpillRules{0, SpillByShared, 0}
	for i, label := range []string{"begin", "step 1", "step 2"} {
		if err := spill.Observe(label); err != nil {
			t.Fatal(err)
		}
		if got := spillInfo(t, spill).Rules; got != rules[i] {
			t.Errorf("%s: rules %b", label, got)
		}
	}
	info := spillInfo(t, spill)
	if info.State != SpillStateMeasurable|SpillStateEver || info.EpisodeCount != 1 || info.FirstLabel != Some("step 1") ||
		info.BaselineSharedBytes != Some(128*mib) || info.PeakSharedBytes != Some(384*mib) ||
		info.EvictedBytes != (Optional[uint64]{}) {
		t.Errorf("the detector reports %+v", info)
	}
	only, err := spill.Episode(0)
	if err != nil || only.EndLabel != Some("step 2") || only.DurationNs != 0 {
		t.Errorf("the episode is %+v, %v", only, err)
	}
	if _, err := spill.Episode(1); !isError(err, ErrRange) {
		t.Errorf("an episode that has not begun: %v", err)
	}
}

func TestSpillThatCannotBeMeasured(t *testing.T) {
	spill, err := machine(t, fillsUp).NewSpill(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := spill.Observe("begin"); !isError(err, ErrUnsupported) {
		t.Errorf("observed: %v", err)
	}
	info := spillInfo(t, spill)
	if info.Status != StatusUnsupported || info.Message == "" || info.DedicatedBytes != (Optional[uint64]{}) {
		t.Errorf("the detector reports %+v", info)
	}
	for _, evicted := range []uint64{0, 256 * mib} {
		if err := spill.Feed(SpillSample{EvictedBytes: Some(evicted)}, "fed"); err != nil {
			t.Fatal(err)
		}
	}
	if got := spillInfo(t, spill).Rules; got != SpillByEvicted {
		t.Errorf("rules %b", got)
	}
	spill.Close()
	if _, err := spill.Info(); !isError(err, ErrClosed) {
		t.Errorf("a closed detector: %v", err)
	}
	if err := spill.Observe("a\x00b"); !isError(err, ErrArgument) {
		t.Errorf("a label with a NUL: %v", err)
	}
}

func TestSpillOfSnapshots(t *testing.T) {
	context := machine(t, fillsUp)
	spill, err := NewLoneSpill(0, &SpillOptions{EpisodeCapacity: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer spill.Close()
	for i := 0; i < 3; i++ {
		taken, err := context.Take(&SnapshotOptions{Collect: CollectPools | CollectProcesses})
		if err != nil {
			t.Fatal(err)
		}
		if err := spill.ObserveSnapshot(taken, "taken"); err != nil {
			t.Fatal(err)
		}
		taken.Close()
	}
	if info := spillInfo(t, spill); info.ObservationCount != 3 || info.EpisodeCount != 1 {
		t.Errorf("the detector reports %+v", info)
	}
	if err := spill.ObserveSnapshot(nil, ""); !isError(err, ErrClosed) {
		t.Errorf("no snapshot: %v", err)
	}
	if _, err := NewLoneSpill(0, &SpillOptions{EpisodeCapacity: 65537}); !isError(err, ErrRange) {
		t.Errorf("a capacity that is too large: %v", err)
	}
}
