// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"runtime"

	"hypomnesis/internal/raw"
)

// SpillOptions say how a spill detector judges. The zero value, and nil, mean every default.
type SpillOptions struct {
	EpisodeCapacity         uint32 // episodes kept; 0 is 1024
	DedicatedThresholdBytes uint64 // 0 is 85 % of the device's memory
	GrowthBytes             uint64 // over the first observation; 0 is 256 MiB
}

// SpillSample is figures from elsewhere.
type SpillSample struct {
	MonotonicNs    uint64 // 0 is now
	DedicatedBytes uint64
	SharedBytes    uint64
	LimitBytes     Optional[uint64]
	EvictedBytes   Optional[uint64]
}

// SpillInfo is what a detector has seen.
type SpillInfo struct {
	Notes                Notes            `json:"notes"`   // of the last observation
	Backend              Backend          `json:"backend"` // of the last observation; BackendNone: it was fed
	DeviceIndex          uint32           `json:"device_index"`
	State                SpillStates      `json:"state"`
	Rules                SpillRules       `json:"rules"`  // of the last observation
	Status               Status           `json:"status"` // StatusOK, or why the last try gave no observation
	ObservationCount     uint64           `json:"observation_count"`
	SkippedCount         uint64           `json:"skipped_count"`
	EpisodeCount         uint64           `json:"episode_count"` // ever begun
	FirstEpisode         uint64           `json:"first_episode"` // lowest number that is still kept
	LimitBytes           Optional[uint64] `json:"limit_bytes"`
	DedicatedBytes       Optional[uint64] `json:"dedicated_bytes"`
	SharedBytes          Optional[uint64] `json:"shared_bytes"`
	EvictedBytes         Optional[uint64] `json:"evicted_bytes"`
	PeakDedicatedBytes   Optional[uint64] `json:"peak_dedicated_bytes"`
	PeakSharedBytes      Optional[uint64] `json:"peak_shared_bytes"`
	PeakEvictedBytes     Optional[uint64] `json:"peak_evicted_bytes"`
	BaselineSharedBytes  Optional[uint64] `json:"baseline_shared_bytes"`
	BaselineEvictedBytes Optional[uint64] `json:"baseline_evicted_bytes"`
	TotalNs              uint64           `json:"total_ns"` // of all episodes
	LongestNs            Optional[uint64] `json:"longest_ns"`
	LongestEpisode       Optional[uint64] `json:"longest_episode"` // its number
	FirstLabel           Optional[string] `json:"first_label"`     // of the first episode
	Message              string           `json:"message"`         // why Status is what it is
}

func newSpillInfo(from *raw.SpillInfo) SpillInfo {
	return SpillInfo{
		Notes:                Notes(from.Notes),
		Backend:              Backend(from.Backend),
		DeviceIndex:          from.DeviceIndex,
		State:                SpillStates(from.State),
		Rules:                SpillRules(from.Rules),
		Status:               Status(from.Status),
		ObservationCount:     from.ObservationCount,
		SkippedCount:         from.SkippedCount,
		EpisodeCount:         from.EpisodeCount,
		FirstEpisode:         from.FirstEpisode,
		LimitBytes:           optional(from.Present, spillInfoHasLimit, from.LimitBytes),
		DedicatedBytes:       optional(from.Present, spillInfoHasObserved, from.DedicatedBytes),
		SharedBytes:          optional(from.Present, spillInfoHasObserved, from.SharedBytes),
		EvictedBytes:         optional(from.Present, spillInfoHasEvicted, from.EvictedBytes),
		PeakDedicatedBytes:   optional(from.Present, spillInfoHasObserved, from.PeakDedicatedBytes),
		PeakSharedBytes:      optional(from.Present, spillInfoHasObserved, from.PeakSharedBytes),
		PeakEvictedBytes:     optional(from.Present, spillInfoHasPeakEvicted, from.PeakEvictedBytes),
		BaselineSharedBytes:  optional(from.Present, spillInfoHasObserved, from.BaselineSharedBytes),
		BaselineEvictedBytes: optional(from.Present, spillInfoHasPeakEvicted, from.BaselineEvictedBytes),
		TotalNs:              from.TotalNs,
		LongestNs:            optional(from.Present, spillInfoHasEpisode, from.LongestNs),
		LongestEpisode:       optional(from.Present, spillInfoHasEpisode, from.LongestEpisode),
		FirstLabel:           optional(from.Present, spillInfoHasEpisode, text(from.FirstLabel[:])),
		Message:              text(from.Message[:]),
	}
}

// Episode is consecutive observations that spilled.
type Episode struct {
	Notes            Notes            `json:"notes"`
	Rules            SpillRules       `json:"rules"` // those that held in it
	Number           uint64           `json:"number"`
	ObservationCount uint64           `json:"observation_count"`
	PeakSharedBytes  uint64           `json:"peak_shared_bytes"`
	PeakEvictedBytes Optional[uint64] `json:"peak_evicted_bytes"`
	StartMonotonicNs uint64           `json:"start_monotonic_ns"`
	EndMonotonicNs   Optional[uint64] `json:"end_monotonic_ns"`
	DurationNs       uint64           `json:"duration_ns"` // from its first observation to its last
	StartLabel       string           `json:"start_label"`
	EndLabel         Optional[string] `json:"end_label"` // of the first observation after it
}

func newEpisode(from *raw.Episode) Episode {
	return Episode{
		Notes:            Notes(from.Notes),
		Rules:            SpillRules(from.Rules),
		Number:           from.Number,
		ObservationCount: from.ObservationCount,
		PeakSharedBytes:  from.PeakSharedBytes,
		PeakEvictedBytes: optional(from.Present, episodeHasPeakEvicted, from.PeakEvictedBytes),
		StartMonotonicNs: from.StartMonotonicNs,
		EndMonotonicNs:   optional(from.Present, episodeHasEnd, from.EndMonotonicNs),
		DurationNs:       from.DurationNs,
		StartLabel:       text(from.StartLabel[:]),
		EndLabel:         optional(from.Present, episodeHasEnd, text(from.EndLabel[:])),
	}
}

// Spill detects device memory that moves to the host. It may be used by any number of goroutines at once,
// and outlives its context.
type Spill struct {
	native raw.Spill
	open   *handle
}

func newSpill(native raw.Spill, err error) (*Spill, error) {
	if err != nil {
		return nil, err
	}
	return &Spill{native, newHandle(func() { raw.DeleteSpill(native) })}, nil
}

func spillOptions(options *SpillOptions) SpillOptions {
	if options == nil {
		return SpillOptions{}
	}
	return *options
}

// NewSpill makes a detector that reads a device; no driver is asked yet. ErrRange: EpisodeCapacity is above
// 65536. Close it; one that is forgotten is closed some time after the garbage collector finds it.
func (c *Context) NewSpill(deviceIndex uint32, options *SpillOptions) (*Spill, error) {
	given := spillOptions(options)
	return newSpill(ask(c, func(native raw.Context, failure *raw.Error) raw.Spill {
		return native.Spill(deviceIndex, given.EpisodeCapacity, given.DedicatedThresholdBytes,
			given.GrowthBytes, failure)
	}))
}

// NewLoneSpill makes a detector without a context: it is fed, or observes the device of snapshots.
func NewLoneSpill(deviceIndex uint32, options *SpillOptions) (*Spill, error) {
	given := spillOptions(options)
	failure := raw.NewError()
	return newSpill(told(raw.LoneSpill(deviceIndex, given.EpisodeCapacity, given.DedicatedThresholdBytes,
		given.GrowthBytes, failure), failure))
}

// Close ends the detector and waits for no driver. Closing again does nothing.
func (s *Spill) Close() error {
	if s != nil {
		s.open.close()
	}
	return nil
}

// askSpill makes a call on a detector that stays until the call has returned.
func askSpill[T any](s *Spill, call func(native raw.Spill, failure *raw.Error) T) (T, error) {
	if s == nil || !s.open.enter() {
		var nothing T
		return nothing, ErrClosed
	}
	defer s.open.leave()
	failure := raw.NewError()
	answer := call(s.native, failure)
	runtime.KeepAlive(s)
	return told(answer, failure)
}

// labelled makes a call with a label.
func (s *Spill) labelled(label string, call func(native raw.Spill, label []byte, failure *raw.Error)) error {
	given, err := argument("label", label)
	if err != nil {
		return err
	}
	_, err = askSpill(s, func(native raw.Spill, failure *raw.Error) struct{} {
		call(native, given, failure)
		return struct{}{}
	})
	return err
}

// Observe reads the device; the label names the moment. ErrUnsupported: it cannot tell, and Info says so too.
// Other errors are those of Pool.
func (s *Spill) Observe(label string) error {
	return s.labelled(label, func(native raw.Spill, given []byte, failure *raw.Error) {
		native.Observe(given, failure)
	})
}

// ObserveSnapshot takes the device of a snapshot with CollectPools and CollectProcesses. ErrEmpty: it has no
// figures. ErrNoDevice: it has no such device.
func (s *Spill) ObserveSnapshot(snapshot *Snapshot, label string) error {
	if snapshot == nil || !snapshot.open.enter() {
		return ErrClosed
	}
	defer snapshot.open.leave()
	defer runtime.KeepAlive(snapshot)
	return s.labelled(label, func(native raw.Spill, given []byte, failure *raw.Error) {
		native.ObserveSnapshot(snapshot.native, given, failure)
	})
}

// Feed takes figures from elsewhere.
func (s *Spill) Feed(sample SpillSample, label string) error {
	var flags uint32
	limit, hasLimit := sample.LimitBytes.Get()
	if hasLimit {
		flags |= spillSampleHasLimit
	}
	evicted, hasEvicted := sample.EvictedBytes.Get()
	if hasEvicted {
		flags |= spillSampleHasEvicted
	}
	return s.labelled(label, func(native raw.Spill, given []byte, failure *raw.Error) {
		native.Feed(flags, sample.MonotonicNs, sample.DedicatedBytes, sample.SharedBytes, limit, evicted,
			given, failure)
	})
}

// Info is what the detector has seen.
func (s *Spill) Info() (SpillInfo, error) {
	return askSpill(s, func(native raw.Spill, failure *raw.Error) SpillInfo {
		return converted(native.Info(failure), newSpillInfo)
	})
}

// Episode is one by its number, from 0. ErrRange: it has not begun yet, or was dropped.
func (s *Spill) Episode(number uint64) (Episode, error) {
	return askSpill(s, func(native raw.Spill, failure *raw.Error) Episode {
		return converted(native.Episode(number, failure), newEpisode)
	})
}
