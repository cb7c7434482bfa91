package node

import (
	"os"
	"runtime/debug"
)

const (
	// leastLimit is what a node needs: 256 MiB that the network may hold of all peers, and a quarter
	// of it again for ledger and store. The runtime counts neither the program's text nor what the
	// store maps, some 40 MiB resident: of 384 MiB a node under 16 strangers came to 422.
	leastLimit = 320 << 20
	// limitShare is the part of a machine's memory that a node may have for itself, beside what
	// it lends: a server that leads large overlays has more than a laptop.
	limitShare = 128
)

// LimitMemory has the process collect its garbage before it holds more than a node should, so that
// what many peers sent at once does not stay; tasks run in processes of their own. It leaves a
// limit alone that the environment names (GOMEMLIMIT), and returns the one that it set, in bytes;
// 0 for none.
func LimitMemory() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return 0
	}
	limit := memoryLimit(totalMemory())
	debug.SetMemoryLimit(limit)
	return limit
}

// memoryLimit is the limit on a machine of so many bytes of memory.
func memoryLimit(total int64) int64 { return max(leastLimit, total/limitShare) }
