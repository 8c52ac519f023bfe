// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import "testing"

const mib = uint64(1) << 20

func twoCards(vram, host string) string {
	return `"devices": [
	{"vendor": "amd", "pools": [{"kind": "vram", "total": "16GiB", "used": "` + vram + `"},
		{"kind": "host", "total": "32GiB", "used": "` + host + `"}]},
	{"pools": [{"kind": "unified", "total": "16GiB", "used": "1GiB"}]}]`
}

var fillingMachine = `{` + twoCards("8GiB", "128MiB") + `, "changes": [
	{"at_reading": 3, ` + twoCards("15GiB", "384MiB") + `}, {"at_reading": 4, ` + twoCards("8GiB", "384MiB") + `}]}`

func readSpillInfo(t *testing.T, spill *Spill) SpillInfo {
	t.Helper()
	info, err := spill.Info()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestSpillOfADeviceIsDetected(t *testing.T) {
	spill, err := openMachine(t, fillingMachine).NewSpill(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer spill.Close()
	rules := []SpillRules{0, SpillByShared, 0}
	for i, label := range []string{"begin", "step 1", "step 2"} {
		if err := spill.Observe(background, label); err != nil {
			t.Fatal(err)
		}
		if actual := readSpillInfo(t, spill).Rules; actual != rules[i] {
			t.Errorf("%s: rules %b", label, actual)
		}
	}
	info := readSpillInfo(t, spill)
	if info.State != SpillStateMeasurable|SpillStateEver || info.EpisodeCount != 1 || info.FirstLabel != Some("step 1") ||
		info.BaselineSharedBytes != Some(128*mib) || info.PeakSharedBytes != Some(384*mib) ||
		info.EvictedBytes != (Optional[uint64]{}) {
		t.Errorf("the detector reports %+v", info)
	}
	episode, err := spill.Episode(0)
	if err != nil || episode.EndLabel != Some("step 2") || episode.Duration != 0 {
		t.Errorf("the episode is %+v, %v", episode, err)
	}
	if _, err := spill.Episode(1); !isError(err, ErrRange) {
		t.Errorf("an episode that has not begun: %v", err)
	}
}

func TestSpillOfAnUnsupportedDeviceCanOnlyBeFed(t *testing.T) {
	spill, err := openMachine(t, fillingMachine).NewSpill(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := spill.Observe(background, "begin"); !isError(err, ErrUnsupported) {
		t.Errorf("observed: %v", err)
	}
	info := readSpillInfo(t, spill)
	if info.Status != StatusUnsupported || info.Message == "" || info.DedicatedBytes != (Optional[uint64]{}) {
		t.Errorf("the detector reports %+v", info)
	}
	for _, evicted := range []uint64{0, 256 * mib} {
		if err := spill.Feed(SpillSample{EvictedBytes: Some(evicted)}, "fed"); err != nil {
			t.Fatal(err)
		}
	}
	if rules := readSpillInfo(t, spill).Rules; rules != SpillByEvicted {
		t.Errorf("rules %b", rules)
	}
	spill.Close()
	if _, err := spill.Info(); !isError(err, ErrClosed) {
		t.Errorf("a closed detector: %v", err)
	}
	if err := spill.Observe(background, "a\x00b"); !isError(err, ErrArgument) {
		t.Errorf("a label with a NUL: %v", err)
	}
}

func TestSpillInSnapshotsIsDetected(t *testing.T) {
	hmn := openMachine(t, fillingMachine)
	spill, err := NewLoneSpill(0, &SpillOptions{EpisodeCapacity: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer spill.Close()
	for i := 0; i < 3; i++ {
		snapshot, err := hmn.Take(background, &SnapshotOptions{Collect: CollectPools | CollectProcesses})
		if err != nil {
			t.Fatal(err)
		}
		if err := spill.ObserveSnapshot(snapshot, "taken"); err != nil {
			t.Fatal(err)
		}
		snapshot.Close()
	}
	if info := readSpillInfo(t, spill); info.ObservationCount != 3 || info.EpisodeCount != 1 {
		t.Errorf("the detector reports %+v", info)
	}
	if err := spill.ObserveSnapshot(nil, ""); !isError(err, ErrClosed) {
		t.Errorf("no snapshot: %v", err)
	}
	if _, err := NewLoneSpill(0, &SpillOptions{EpisodeCapacity: 65537}); !isError(err, ErrRange) {
		t.Errorf("a capacity that is too large: %v", err)
	}
}
