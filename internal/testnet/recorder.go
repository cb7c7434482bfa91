package testnet

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"godwit/overlay"
	"godwit/task"
)

// LongAnswer is how many bytes a Recorder answers to "long": about what a job of 4,000 tasks takes.
const LongAnswer = 3 << 20

// A Recorder is a handler that remembers what it was told. It answers a request
// with its method and body, or, for the method "refuse", with an error, for "long" with
// LongAnswer zeros.
type Recorder struct {
	mu      sync.Mutex
	events  []string
	frames  map[task.PeerID][]string
	adverts map[membership]overlay.Advert
}

// Frame implements p2p.Handler.
func (r *Recorder) Frame(from task.PeerID, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frames == nil {
		r.frames = map[task.PeerID][]string{}
	}
	r.frames[from] = append(r.frames[from], string(data))
	r.events = append(r.events, "frame "+string(from))
}

// Connected implements p2p.Handler.
func (r *Recorder) Connected(p task.PeerID) { r.note("connected " + string(p)) }

// Disconnected implements p2p.Handler.
func (r *Recorder) Disconnected(p task.PeerID) { r.note("disconnected " + string(p)) }

// Trimmed implements p2p.Handler.
func (r *Recorder) Trimmed(p task.PeerID) { r.note("trimmed " + string(p)) }

// Advert implements p2p.Handler.
func (r *Recorder) Advert(a overlay.Advert) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.adverts == nil {
		r.adverts = map[membership]overlay.Advert{}
	}
	r.adverts[membership{a.Overlay, a.Peer}] = a
}

// Request implements p2p.Handler.
func (r *Recorder) Request(ctx context.Context, from task.PeerID, method string, body []byte) ([]byte, error) {
	switch method {
	case "refuse":
		return nil, fmt.Errorf("no %s for %s", body, from)
	case "wait":
		<-ctx.Done()
		r.note("gave up " + string(from))
		return nil, ctx.Err()
	case "long":
		return make([]byte, LongAnswer), nil
	}
	return append([]byte(method+" "), body...), nil
}

func (r *Recorder) note(event string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

// Events returns "connected ID", "disconnected ID", "frame ID" and "gave up ID",
// in the order they came.
func (r *Recorder) Events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Frames returns the frames that a peer sent.
func (r *Recorder) Frames(from task.PeerID) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.frames[from])
}

// Slots returns what the last advert of a peer in the overlay named "test" offers;
// false if none came.
func (r *Recorder) Slots(p task.PeerID) (int, bool) { return r.SlotsIn(Overlay(testOverlay), p) }

// SlotsIn is Slots in another overlay.
func (r *Recorder) SlotsIn(id overlay.ID, p task.PeerID) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.adverts[membership{id, p}]
	return a.Slots, ok
}

// A membership is a peer in an overlay.
type membership struct {
	overlay overlay.ID
	peer    task.PeerID
}
