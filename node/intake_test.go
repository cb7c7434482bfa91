package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"godwit/p2p/cost"
	"godwit/task"
)

// One peer's flood holds up neither what leases say, nor what others bring, nor that others
// come and go.
func TestFloodHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		held := make(chan struct{})
		l.post(post{call: func() { <-held }})
		synctest.Wait()
		var mu sync.Mutex
		var served []string
		note := func(what string) func() {
			return func() {
				mu.Lock()
				defer mu.Unlock()
				served = append(served, what)
			}
		}
		for range 4 {
			go func() {
				for range 1000 {
					l.postOf(post{from: "flooder", bytes: 100, call: note("flood")})
				}
			}()
		}
		synctest.Wait()
		posted := make(chan struct{})
		go func() {
			defer close(posted)
			l.postOf(post{from: "other", bytes: 100, call: note("first of other")})
			l.noteOf(post{from: "flooder", call: note("flooder has gone")})
			l.postOf(post{from: "other", bytes: 100, call: note("second of other")})
		}()
		go func() { _ = l.doOf(t.Context(), "third", note("question")) }()
		go func() { _ = l.doFirst(t.Context(), note("lease")) }()
		synctest.Wait()
		select {
		case <-posted:
		default:
			t.Error("others wait for a flood that waits")
		}
		close(held)
		synctest.Wait()
		if served[0] != "lease" {
			t.Errorf("first was served: %v", served[:4])
		}
		if i := slices.Index(served, "second of other"); i < 0 || i > 7 {
			t.Errorf("another's second was the %dth that was served: %v", i, served[:20])
		}
		if i := slices.Index(served, "question"); i < 0 || i > 5 {
			t.Errorf("another's question was the %dth that was served: %v", i, served[:20])
		}
		if len(served) != 4005 {
			t.Errorf("%d of 4005 were served", len(served))
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// What one peer brings is served in its order, a part of it in each of its turns.
func TestTurnsOfPeers(t *testing.T) {
	in := newIntake()
	put := func(from task.PeerID, bytes int) bool {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // what has no room does not wait
		return in.put(ctx, nil, post{from: from, bytes: bytes}, 1000)
	}
	for i, from := range []task.PeerID{"a", "a", "b", "a", "c"} {
		if !put(from, 10*(i+1)) {
			t.Fatalf("post %d has no room", i)
		}
	}
	var order []string
	halves := map[int]bool{10: true} // which is left once
	for {
		p, ok := in.take()
		if !ok {
			break
		}
		order = append(order, fmt.Sprint(p.from, p.bytes))
		left := halves[p.bytes]
		delete(halves, p.bytes)
		in.done(left)
	}
	if got, want := strings.Join(order, " "), "a10 b30 c50 a10 a20 a40"; got != want {
		t.Errorf("served %s, want %s", got, want)
	}
	if len(in.turns)+len(in.order) != 0 {
		t.Error("something is left of peers that have nothing waiting")
	}
}

// What may wait of a peer is bounded, in posts and in bytes; one frame of any size is taken.
func TestIntakeIsBounded(t *testing.T) {
	for bytes, want := range map[int]int{0: turnPosts, 1: turnPosts, turnBytes / 4: 4, 10 * turnBytes: 1} {
		in, n := newIntake(), 0
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for n <= turnPosts && in.put(ctx, nil, post{from: "p", bytes: bytes}, turnBytes) {
			n++
		}
		if n != want {
			t.Errorf("%d posts of %d bytes wait, want %d", n, bytes, want)
		}
		if !in.put(ctx, nil, post{from: "p"}, unbounded) || !in.put(ctx, nil, post{from: "q", bytes: bytes}, turnBytes) {
			t.Errorf("beside posts of %d bytes nothing else has room", bytes)
		}
	}
}

// Large frames of peers that the node does not work with are decoded one after the other.
func TestLargeFramesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, stopped := newIntake(), make(chan struct{})
		release := in.admit(stopped, largeFrame+1, cost.Member)
		let := make(chan func(), 1)
		go func() { let <- in.admit(stopped, largeFrame+1, cost.Stranger) }()
		synctest.Wait()
		if len(let) != 0 {
			t.Error("two large frames are decoded at once")
		}
		if in.admit(stopped, largeFrame, cost.Stranger) == nil || in.admit(stopped, 1<<22, cost.Worker) == nil {
			t.Error("others wait for a large frame")
		}
		release()
		release = <-let
		go func() { let <- in.admit(stopped, largeFrame+1, cost.Stranger) }()
		synctest.Wait()
		close(stopped)
		if <-let != nil {
			t.Error("a node that has stopped decodes")
		}
		release()
	})
}
