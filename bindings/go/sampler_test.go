// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const card = `{"devices": [{"name": "Card", "pools": [{"kind": "vram", "total": "16GiB", "used": "3GiB"}]}]}`

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
	first, err := sampler.Next(background)
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
	ctx, cancel := context.WithTimeout(background, time.Millisecond)
	defer cancel()
	if _, err := sampler.Next(ctx); !isError(err, context.DeadlineExceeded) {
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
	if _, err := sampler.Next(background); !isError(err, ErrState) {
		t.Errorf("next before the start: %v", err)
	}
	if err := sampler.Stop(); !isError(err, ErrState) {
		t.Errorf("stop before the start: %v", err)
	}
}

func TestSamplerFollowsItsOptions(t *testing.T) {
	peaks := startSampler(t, &SamplerOptions{Flags: SamplerPeaksOnly}, nil)
	if _, err := peaks.Next(background); !isError(err, ErrState) {
		t.Errorf("next of one that keeps nothing: %v", err)
	}
	if _, err := openMachine(t, card).NewSampler(&SamplerOptions{Capacity: 65537}, nil); !isError(err, ErrRange) {
		t.Errorf("a capacity that is too large: %v", err)
	}
	pools := startSampler(t, nil, &SnapshotOptions{Collect: CollectPools})
	if first, err := pools.Next(background); err != nil || first.Info().Collect != CollectDevices|CollectPools {
		t.Errorf("collected %v, %v", first, err)
	}
}

func TestSamplerCloseWakesNext(t *testing.T) {
	sampler := startSampler(t, &SamplerOptions{Interval: time.Hour}, nil)
	if _, err := sampler.Next(background); err != nil {
		t.Fatal(err)
	}
	results := make(chan error)
	go func() {
		_, err := sampler.Next(background)
		results <- err
	}()
	time.Sleep(20 * time.Millisecond)
	sampler.Close()
	sampler.Close()
	select {
	case err := <-results:
		if err != io.EOF && !isError(err, ErrClosed) { // closed before the waiter looked
			t.Errorf("the one that waited got %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nobody woke it")
	}
	if _, err := sampler.Info(); !isError(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

func TestSamplerRangeEndsWithTheSampler(t *testing.T) {
	sampler := startSampler(t, &SamplerOptions{Interval: 10 * time.Millisecond}, nil)
	taken := 0
	sampler.All(background)(func(snapshot *Snapshot, err error) bool {
		if err != nil {
			t.Error(err)
			return false
		}
		snapshot.Close()
		if taken++; taken == 3 {
			sampler.Stop()
		}
		return true
	})
	if taken < 3 {
		t.Errorf("%d snapshots", taken)
	}
	if _, err := sampler.Next(background); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	sampler.All(background)(func(*Snapshot, error) bool {
		t.Error("a snapshot after the end")
		return false
	})
}

func TestSamplerRangeReportsItsContextsEnd(t *testing.T) {
	sampler := startSampler(t, &SamplerOptions{Interval: time.Hour}, nil)
	ctx, cancel := context.WithCancel(background)
	var last error
	sampler.All(ctx)(func(snapshot *Snapshot, err error) bool {
		snapshot.Close()
		cancel()
		last = err
		return true
	})
	if last != context.Canceled {
		t.Errorf("the last error is %v", last)
	}
}

func TestSamplerReportsThatItsContextIsCancelled(t *testing.T) {
	hmn := openMachine(t, card)
	sampler, err := hmn.NewSampler(&SamplerOptions{Interval: time.Hour}, nil)
	if err == nil {
		err = sampler.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer sampler.Close()
	if snapshot, err := sampler.Next(background); err != nil {
		t.Fatal(err)
	} else {
		snapshot.Close()
	}
	time.AfterFunc(10*time.Millisecond, func() { hmn.Cancel() })
	if _, err := sampler.Next(background); !isError(err, ErrCancelled) {
		t.Errorf("next of a cancelled context: %v", err)
	}
}

// countThreads returns the threads of this process.
func countThreads(t *testing.T) int {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip("no /proc")
	}
	return len(tasks)
}

func TestManyWaitersNeedNoThreads(t *testing.T) {
	sampler := startSampler(t, &SamplerOptions{Interval: time.Hour}, nil)
	if snapshot, err := sampler.Next(background); err != nil {
		t.Fatal(err)
	} else {
		snapshot.Close()
	}
	const waiters = 200
	before := countThreads(t)
	ctx, cancel := context.WithCancel(background)
	var begun, ended sync.WaitGroup
	begun.Add(waiters)
	ended.Add(waiters)
	for i := 0; i < waiters; i++ {
		go func() {
			defer ended.Done()
			begun.Done()
			if _, err := sampler.Next(ctx); err != context.Canceled {
				t.Errorf("a waiter got %v", err)
			}
		}()
	}
	begun.Wait()
	time.Sleep(100 * time.Millisecond)
	if after := countThreads(t); after > before+20 {
		t.Errorf("%d threads, %d before", after, before)
	}
	cancel()
	ended.Wait()
	if info, err := sampler.Info(); err != nil || info.State != SamplerStateRunning {
		t.Errorf("the sampler is %v, %v", info.State, err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	gate := t.TempDir() + "/gate"
	hmn := openMachine(t, strings.Replace(`{"host": "real", "devices": [{"pools": [{"kind": "vram", "total": 5}],
		"delays": [{"call": "pools", "hang_until": "GATE"}]}]}`, "GATE", filepath.ToSlash(gate), 1))
	if _, err := hmn.Scan(background); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := hmn.Pool(ctx, 0, PoolMain, 0, 0); err != context.DeadlineExceeded {
		t.Errorf("a pool: %v", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the wait took %v", took)
	}
	if _, err := hmn.OwnMemory(0); err != nil {
		t.Errorf("another call: %v", err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hmn.Take(ctx, nil); err != context.DeadlineExceeded {
		t.Errorf("a snapshot with a context that has ended: %v", err)
	}
}
