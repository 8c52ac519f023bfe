// SPDX-License-Identifier: MIT OR Apache-2.0

package hypomnesis

import (
	"context"
	"errors"
	"time"
)

// wait waits for a snapshot. Go's poller cannot wait for an event of Windows, so each waiting caller uses a thread.
func (s *Sampler) wait(ctx context.Context) (*Snapshot, error) {
	for {
		snapshot, err := s.pull(50 * time.Millisecond)
		if !errors.Is(err, ErrEmpty) {
			return snapshot, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}
