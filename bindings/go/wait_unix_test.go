// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !windows

package hypomnesis

import (
	"testing"
	"time"
)

func TestHandleCanBePolledByARuntimeFile(t *testing.T) {
	sampler := startSampler(t, &SamplerOptions{Interval: time.Hour}, nil)
	handle, err := sampler.Handle()
	if err != nil {
		t.Fatal(err)
	}
	file, err := duplicate(int(handle))
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	if snapshot, err := sampler.Next(background); err != nil {
		t.Errorf("closing the duplicate ended the sampler: %v", err)
	} else {
		snapshot.Close()
	}
}
