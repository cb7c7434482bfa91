// Package stream brings what is new to listeners, as server-sent events: numbered,
// bounded, and made only while somebody listens. It knows nothing of what it brings.
package stream

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// MaxListeners bounds those that listen at once: all pages of a browser share one stream.
	MaxListeners = 32
	// maxFrames and maxBytes bound what is kept for those who come back after a break: a minute of the
	// densest stream, or what a page loads.
	maxFrames = 256
	maxBytes  = 1 << 20
	// Gap is the least time between two frames to one listener: a person reads no faster.
	Gap = 250 * time.Millisecond
)

// ErrFull is returned to a listener for whom there is no room.
var ErrFull = errors.New("stream: too many listen already")

// Reset is the topic of a frame that says: what you have may be old, all that is new follows.
const Reset = "reset"

// A Frame is one thing that is new. Of one topic the newest is all that there is to know.
type Frame struct {
	Number uint64 // grows, also from one run of the program to the next
	Topic  string
	Data   []byte // one line; read only
}

// A Hub has frames made while anybody listens. It is safe for concurrent use.
type Hub struct {
	collect func(ctx context.Context, say func(topic string, data []byte))

	mu        sync.Mutex
	number    uint64 // of the newest frame
	ring      []Frame
	size      int // bytes in it
	newest    map[string]Frame
	listeners map[*Listener]bool
	stop      context.CancelFunc // of what collects; nil while nobody listens
	stopped   chan struct{}
}

// NewHub returns a hub whose frames collect makes: it is called when the first begins to listen, and
// its context ends when the last has gone. first is above every number of the runs before, such as the time in
// milliseconds: nobody is sent as many frames a second.
func NewHub(first uint64, collect func(ctx context.Context, say func(topic string, data []byte))) *Hub {
	return &Hub{collect: collect, number: first, newest: map[string]Frame{}, listeners: map[*Listener]bool{}}
}

// A Listener hears what is new. Close it.
type Listener struct {
	hub   *Hub
	news  chan struct{} // has at most one token
	after uint64        // the last frame that it has
	reset bool          // it is to be told that it missed some
	last  time.Time     // when it was last given some
}

// Listen begins to listen. after is the number of the last frame that the caller has had; 0 for none.
func (h *Hub) Listen(after uint64) (*Listener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners) >= MaxListeners {
		return nil, ErrFull
	}
	l := &Listener{hub: h, news: make(chan struct{}, 1), after: after}
	if !h.knows(after) {
		l.after, l.reset = 0, true
	}
	h.listeners[l] = true
	l.news <- struct{}{}
	if h.stop == nil {
		h.start()
	}
	return l, nil
}

// start has frames made. What was the newest before may be old: it is forgotten with the ring, unless
// somebody just went away and comes back.
func (h *Hub) start() {
	ctx, cancel := context.WithCancel(context.Background())
	h.stop = cancel
	before, done := h.stopped, make(chan struct{})
	h.stopped = done
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		h.collect(ctx, h.say)
	}()
}

// knows reports whether the ring has all frames after a number.
func (h *Hub) knows(after uint64) bool {
	if after == 0 || after > h.number {
		return false
	}
	return after == h.number || len(h.ring) > 0 && h.ring[0].Number <= after+1
}

// say takes a frame in, unless it says what was said of its topic last.
func (h *Hub) say(topic string, data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, ok := h.newest[topic]; ok && bytes.Equal(was.Data, data) {
		return
	}
	h.number++
	f := Frame{h.number, topic, bytes.Clone(data)}
	h.newest[topic] = f
	h.ring, h.size = append(h.ring, f), h.size+len(data)
	for len(h.ring) > 1 && (len(h.ring) > maxFrames || h.size > maxBytes) {
		h.size -= len(h.ring[0].Data)
		h.ring = slices.Delete(h.ring, 0, 1)
	}
	for l := range h.listeners {
		select {
		case l.news <- struct{}{}:
		default:
		}
	}
}

// Close ends the listening.
func (l *Listener) Close() {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.listeners[l] {
		return
	}
	delete(h.listeners, l)
	if len(h.listeners) == 0 {
		h.stop()
		h.stop = nil
	}
}

// Next waits for what is new and returns it, the newest of each topic, in order; none after patience, or where
// ctx ends. Nothing is kept for who asks late: what it missed is in the ring, or it is told so.
func (l *Listener) Next(ctx context.Context, patience time.Duration) []Frame {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.news:
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return nil
	}
	if wait := Gap - time.Since(l.last); !l.last.IsZero() && wait > 0 {
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
	}
	l.last = time.Now()
	return l.take()
}

// take returns what l does not have.
func (l *Listener) take() []Frame {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Frame
	if !l.reset && l.after != h.number && !h.knows(l.after) {
		l.reset = true
	}
	if l.reset {
		out = append(out, Frame{Number: h.number, Topic: Reset, Data: []byte("{}")})
	}
	from := len(out)
	for _, f := range h.newest {
		if l.reset || f.Number > l.after {
			out = append(out, f)
		}
	}
	slices.SortFunc(out[from:], func(a, b Frame) int {
		if a.Number < b.Number {
			return -1
		}
		return 1
	})
	if n := len(out); n > 0 {
		// The number that a browser comes back with is the last one's: that of the reset stands for all.
		l.after, l.reset = h.number, false
	}
	return out
}
