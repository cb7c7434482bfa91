//go:build !linux

package main

import "errors"

// A memoryFile is a process's memory.
type memoryFile interface {
	ReadAt([]byte, int64) (int, error)
	Close() error
}

// An area is a range of a process's addresses.
type area struct{ from, to int64 }

// canPeek says why guests cannot be watched here.
func canPeek() error { return skip("guests are watched through /proc, which Linux has") }

func openMemory(int) (memoryFile, error)       { return nil, errors.ErrUnsupported }
func hurry()                                   {}
func privateAreas(int, int64) ([]area, error)  { return nil, errors.ErrUnsupported }
func findMark(memoryFile, int64) (int64, bool) { return 0, false }
func (w *watcher) newChildren() []int          { return nil }
