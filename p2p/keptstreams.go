package p2p

import (
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	// keepStream is how long a stream for blocks is kept for the next question: tasks that read what others of one
	// worker made ask many times a second, and who serves gives a silent stream up after a minute.
	keepStream = 10 * time.Second
	// mostKept is how many are kept to one peer. With mostAsked that are in use they are fewer than what a peer lets in.
	mostKept = 2
)

// keptStreams are those for blocks on which all was answered: a small block asked for on one of them costs its
// question, and not what it takes to agree on a protocol too. The zero value is ready for use.
type keptStreams struct {
	mu sync.Mutex
	of map[peer.ID][]*askStream // the one used last at the end
}

// take returns a stream to a peer on which nothing is under way, or nil.
func (k *keptStreams) take(p peer.ID) *askStream {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := k.of[p]
	for len(list) > 0 {
		s := list[len(list)-1]
		list = list[:len(list)-1]
		k.set(p, list)
		if s.kept.Stop() { // or it is about to end
			return s
		}
	}
	return nil
}

// keep keeps a stream for a while. It reports false where enough are kept; then the caller ends it.
func (k *keptStreams) keep(p peer.ID, s *askStream) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.of[p]) >= mostKept {
		return false
	}
	k.set(p, append(k.of[p], s))
	s.kept = time.AfterFunc(keepStream, func() {
		k.forget(p, s)
		s.close()
	})
	return true
}

func (k *keptStreams) forget(p peer.ID, s *askStream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set(p, slices.DeleteFunc(k.of[p], func(o *askStream) bool { return o == s }))
}

// set sets what is kept to a peer; k.mu is held.
func (k *keptStreams) set(p peer.ID, list []*askStream) {
	if k.of == nil {
		k.of = map[peer.ID][]*askStream{}
	}
	if k.of[p] = list; len(list) == 0 {
		delete(k.of, p)
	}
}
