// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"testing"
	"time"
)

const card = `{"devices": [{"name": "Card", "pools": [{"kind": "vram", "total": "16GiB", "used": "3GiB"}]}]}`

const nextTimeout = time.Minute

func startSampler(t *testing.T, options *SamplerOptions, contents *SnapshotOptions) *Sampler {
	t.Helper()
	sampler, err := openMachine(t, card).NewSampler(options, contents)
	if err == nil {
		err = sampler.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sampler.Close() })
	return sampler
}

func TestSamplerReturnsSnapshotsLatestValuesAndPeaks(t *testing.T) {
	sampler := startSampler(t, nil, nil)
	first, err := sampler.Next(nextTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if collected := first.Info().Collect; collected != CollectDevices|CollectPools|CollectTelemetry {
		t.Errorf("collected %b", collected)
	}
	pool, err := sampler.LatestPool(0)
	if used := pool.value.UsedBytes; err != nil || used != Some(uint64(3)<<30) {
		t.Errorf("the latest pool uses %v, %v", used, err)
	}
	peak, err := sampler.DevicePeak(0)
	if used := peak.value.UsedBytes; err != nil || used != Some(uint64(3)<<30) {
		t.Errorf("the peak is %v, %v", used, err)
	}
	info, err := sampler.Info()
	if err != nil || info.State != SamplerStateRunning || info.TakenCount != 1 || info.LastStatus != Some(StatusOK) {
		t.Errorf("the sampler reports %+v, %v", info, err)
	}
	if _, err := sampler.Next(0); !isError(err, ErrEmpty) {
		t.Errorf("a snapshot that did not come: %v", err)
	}
	if _, err := sampler.LatestPool(7); !isError(err, ErrNoDevice) {
		t.Errorf("no device: %v", err)
	}
	if _, err := sampler.Peak(0, 1); !isError(err, ErrNoProcess) {
		t.Errorf("no process: %v", err)
	}
}

func TestSamplerHasNoValuesBeforeItsStart(t *testing.T) {
	sampler, err := openMachine(t, card).NewSampler(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sampler.Close()
	if pool, err := sampler.LatestPool(0); err != nil || pool.Present() {
		t.Errorf("a pool before the start: %v, %v", pool, err)
	}
	if load, err := sampler.LatestTelemetry(0); err != nil || load.Present() {
		t.Errorf("a load before the start: %v, %v", load, err)
	}
	if _, err := sampler.Next(nextTimeout); !isError(err, ErrState) {
		t.Errorf("next before the start: %v", err)
	}
	if err := sampler.Stop(); !isError(err, ErrState) {
		t.Errorf("stop before the start: %v", err)
	}
}

func TestSamplerFollowsItsOptions(t *testing.T) {
	peaks := startSampler(t, &SamplerOptions{Flags: SamplerPeaksOnly}, nil)
	if _, err := peaks.Next(nextTimeout); !isError(err, ErrState) {
		t.Errorf("next of one that keeps nothing: %v", err)
	}
	if _, err := openMachine(t, card).NewSampler(&SamplerOptions{Capacity: 65537}, nil); !isError(err, ErrRange) {
		t.Errorf("a capacity that is too large: %v", err)
	}
	pools := startSampler(t, nil, &SnapshotOptions{Collect: CollectPools})
	if first, err := pools.Next(nextTimeout); err != nil || first.Info().Collect != CollectDevices|CollectPools {
		t.Errorf("collected %v, %v", first, err)
	}
}

func TestSamplerCloseWakesNext(t *testing.T) {
	sampler := startSampler(t, &SamplerOptions{Interval: time.Hour}, nil)
	if _, err := sampler.Next(nextTimeout); err != nil {
		t.Fatal(err)
	}
	results := make(chan error)
	go func() {
		_, err := sampler.Next(nextTimeout)
		results <- err
	}()
	time.Sleep(20 * time.Millisecond)
	sampler.Close()
	sampler.Close()
	select {
	case err := <-results:
		if !isError(err, ErrState) && !isError(err, ErrClosed) { // closed: the call came too late to wait
			t.Errorf("the one that waited got %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nobody woke it")
	}
	if _, err := sampler.Info(); !isError(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}
