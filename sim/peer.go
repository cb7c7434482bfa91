package sim

import (
	"strconv"
	"strings"

	"godwit/task"
)

// peerPrefix and peerDigits make the name under which policies see a host of a
// trace. Names sort as the hosts' numbers do, because policies that go round
// follow the names, and the thesis's follow the numbers.
const (
	peerPrefix = "host-"
	peerDigits = 8
	peerSize   = len(peerPrefix) + peerDigits
)

// peerOf is the name of host i of the trace, from 0 to maxHosts-1.
func peerOf(i int) task.PeerID {
	n := strconv.Itoa(i)
	return task.PeerID(peerPrefix + strings.Repeat("0", max(0, peerDigits-len(n))) + n)
}

// hostOf is the number of the host of a name, and false for a name that peerOf
// does not give. It allocates nothing.
func hostOf(p task.PeerID) (int, bool) {
	if len(p) != peerSize || p[:len(peerPrefix)] != peerPrefix {
		return 0, false
	}
	n := 0
	for _, c := range []byte(p[len(peerPrefix):]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}
