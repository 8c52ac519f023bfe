// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !windows

package hypomnesis

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// wait waits for a snapshot with Go's poller, on a duplicate of the sampler's descriptor.
func (s *Sampler) wait(ctx context.Context) (*Snapshot, error) {
	handle, err := s.Handle()
	if err != nil {
		return nil, err
	}
	file, err := duplicate(int(handle))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	connection, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	if ctx.Done() != nil {
		done := make(chan struct{})
		defer close(done)
		go func() {
			select {
			case <-ctx.Done():
				file.SetReadDeadline(time.Unix(1, 0))
			case <-done:
			}
		}()
	}
	var snapshot *Snapshot
	// The descriptor is ready, or another caller has pulled the snapshot in the meantime.
	failure := connection.Read(func(uintptr) bool {
		snapshot, err = s.pull(Immediate)
		return !errors.Is(err, ErrEmpty)
	})
	if failure != nil {
		return nil, ctx.Err()
	}
	return snapshot, err
}

// duplicate returns a descriptor that is closed on its own.
func duplicate(descriptor int) (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	copied, err := syscall.Dup(descriptor)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(copied)
	if err := syscall.SetNonblock(copied, true); err != nil {
		syscall.Close(copied)
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(copied), "sampler"), nil
}
