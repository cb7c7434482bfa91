package p2p_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

// guests is a rule of admission that can change.
type guests struct {
	mu  sync.Mutex
	ids []task.PeerID
}

var errNotInvited = errors.New("not invited")

func (g *guests) admit(a *overlay.Advert) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.ids, a.Peer) {
		return nil
	}
	return errNotInvited
}

func (g *guests) set(ids ...task.PeerID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ids = ids
}

func setAdvert(t *testing.T, id overlay.ID, slots int, nodes ...*testnet.Node) {
	t.Helper()
	for _, n := range nodes {
		if err := n.SetAdvert(n.AdvertIn(id, slots)); err != nil {
			t.Fatal(err)
		}
	}
}

func wantSlots(t *testing.T, n *testnet.Node, id overlay.ID, of *testnet.Node, want int) {
	t.Helper()
	if got, _ := n.Recorder.SlotsIn(id, of.ID()); got != want {
		t.Errorf("%s knows %d slots of %s, want %d", n.Addr, got, of.Addr, want)
	}
}

// A node hears of the overlays that it is in and of no other, from the moment when
// it joins to that when it leaves, over neighbours that are in others.
func TestSeveralOverlays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		red, blue := testnet.Overlay("red"), testnet.Overlay("blue")
		in := [][]p2p.Overlay{{{ID: red}, {ID: blue}}, {{ID: red}}, {{ID: blue}}, {{ID: red}}}
		net := testnet.New(t, 4, testnet.Options{Overlays: func(i int) []p2p.Overlay { return in[i] }})
		both, r, b, late := net.Nodes[0], net.Nodes[1], net.Nodes[2], net.Nodes[3]
		setAdvert(t, red, 1, both, r, late)
		setAdvert(t, blue, 2, both, b)
		time.Sleep(10 * time.Second)
		for _, n := range []*testnet.Node{both, r, late} {
			for _, of := range []*testnet.Node{both, r, late} {
				if n != of {
					wantSlots(t, n, red, of, 1)
				}
			}
			wantSlots(t, b, red, n, 0)
		}
		wantSlots(t, both, blue, b, 2)
		wantSlots(t, b, blue, both, 2)
		wantSlots(t, r, blue, both, 0)

		if err := late.SetAdvert(late.AdvertIn(blue, 3)); !errors.Is(err, p2p.ErrNotJoined) {
			t.Errorf("an advert of an overlay not joined: %v", err)
		}
		if err := late.Join(p2p.Overlay{ID: blue}); err != nil {
			t.Fatal(err)
		}
		if err := late.Join(p2p.Overlay{ID: blue}); err == nil {
			t.Error("joined twice")
		}
		setAdvert(t, blue, 3, late)
		time.Sleep(10 * time.Second)
		wantSlots(t, late, blue, b, 2)
		wantSlots(t, late, blue, both, 2)
		wantSlots(t, b, blue, late, 3)

		if err := errors.Join(late.Leave(red), late.Recheck(blue)); err != nil {
			t.Fatal(err)
		}
		if err := late.Leave(red); !errors.Is(err, p2p.ErrNotJoined) {
			t.Errorf("left twice: %v", err)
		}
		setAdvert(t, red, 4, r)
		setAdvert(t, blue, 5, b)
		time.Sleep(10 * time.Second)
		wantSlots(t, both, red, r, 4)
		wantSlots(t, late, red, r, 1)
		wantSlots(t, late, blue, b, 5)
		if err := late.Join(p2p.Overlay{ID: red}); err != nil { // and back
			t.Fatal(err)
		}
		setAdvert(t, red, 6, late)
		time.Sleep(10 * time.Second)
		wantSlots(t, late, red, r, 4)
		wantSlots(t, r, red, late, 6)
		for _, n := range net.Nodes {
			if d := n.Stats().DroppedAdverts; d["overlay"]+d["invalid"]+d["stranger"] != 0 {
				t.Errorf("%s dropped %v", n.Addr, d)
			}
			for _, of := range net.Nodes {
				if score := n.Score(of.ID()); n != of && score != 0 {
					t.Errorf("%s blames %s: %v", n.Addr, of.Addr, score)
				}
			}
		}
	})
}

func TestTooManyOverlays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := testnet.New(t, 1, testnet.Options{}).Nodes[0]
		for i := range p2p.MaxOverlays {
			err := n.Join(p2p.Overlay{ID: testnet.Overlay(string(rune('a' + i)))})
			if want := i < p2p.MaxOverlays-1; (err == nil) != want {
				t.Errorf("overlay %d: %v", i+2, err)
			}
		}
		if err := n.Join(p2p.Overlay{ID: "nonsense"}); err == nil {
			t.Error("joined nonsense")
		}
	})
}

// In a closed overlay a stranger learns who its neighbours are, which they say to
// anybody, and nothing more: not on connecting, not by gossip, not by reminders.
// Admitted, it knows all within seconds; not admitted any more, it hears nothing
// new.
func TestClosedOverlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := testnet.Overlay("club")
		rule := &guests{}
		net := testnet.New(t, 5, testnet.Options{Alone: true, Overlays: func(i int) []p2p.Overlay {
			if i == 3 {
				return []p2p.Overlay{{ID: id}} // it believes all it is told
			}
			return []p2p.Overlay{{ID: id, Admit: rule.admit, Closed: true}}
		}})
		a, b, c, stranger, late := net.Nodes[0], net.Nodes[1], net.Nodes[2], net.Nodes[3], net.Nodes[4]
		members := []*testnet.Node{a, b, c}
		rule.set(testnet.IDs(members...)...)
		a.Connect(b)
		b.Connect(c)
		stranger.Connect(b)
		setAdvert(t, id, 1, a, b, c, stranger)
		time.Sleep(20 * time.Second)
		setAdvert(t, id, 2, a, b, c)
		time.Sleep(3 * time.Minute) // some reminders
		for _, n := range members {
			for _, of := range members {
				if n != of {
					wantSlots(t, n, id, of, 2)
				}
			}
			wantSlots(t, n, id, stranger, 0)
		}
		wantSlots(t, stranger, id, b, 2)
		wantSlots(t, stranger, id, a, 0)
		wantSlots(t, stranger, id, c, 0)
		if n := b.Stats().DroppedAdverts["stranger"]; n == 0 {
			t.Errorf("dropped %v", b.Stats().DroppedAdverts)
		}
		if score := b.Score(stranger.ID()); score < -16 {
			t.Errorf("a stranger that only reminds has score %v", score)
		}

		rule.set(testnet.IDs(a, b, c, stranger)...)
		setAdvert(t, id, 3, stranger)
		time.Sleep(10 * time.Second)
		for _, n := range members {
			wantSlots(t, n, id, stranger, 3)
			wantSlots(t, stranger, id, n, 2)
		}
		setAdvert(t, id, 4, a) // by gossip
		time.Sleep(10 * time.Second)
		wantSlots(t, stranger, id, a, 4)

		rule.set(testnet.IDs(members...)...)
		for _, n := range members {
			if err := n.Recheck(id); err != nil {
				t.Fatal(err)
			}
			if k := n.Stats().Adverts; k != 2 {
				t.Errorf("%s still knows %d others", n.Addr, k)
			}
		}
		time.Sleep(time.Second)
		// It dials the members that it knew, each of which says its own to anybody;
		// of one that came since nobody tells it, however long it listens.
		rule.set(testnet.IDs(a, b, c, late)...)
		late.Connect(a)
		for slots := 5; slots < 8; slots++ {
			setAdvert(t, id, slots, a, b, c, late)
			time.Sleep(2 * time.Minute) // some reminders
		}
		for _, n := range members {
			wantSlots(t, n, id, late, 7)
			wantSlots(t, late, id, n, 7)
			wantSlots(t, n, id, stranger, 3) // as it was last heard
			if k := n.Stats().Adverts; k != 3 {
				t.Errorf("%s knows %d others", n.Addr, k)
			}
		}
		wantSlots(t, stranger, id, late, 0)
		if _, known := stranger.Recorder.SlotsIn(id, late.ID()); known {
			t.Error("the stranger hears of a member that came after it had gone")
		}
	})
}

// A peer that says again and again that it is in an overlay that does not admit it
// is silenced; who relays such adverts is not.
func TestStrangerFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := testnet.Overlay("test")
		net := testnet.New(t, 3, testnet.Options{Alone: true, Overlays: func(i int) []p2p.Overlay {
			if i == 0 {
				return []p2p.Overlay{{ID: id, Admit: func(*overlay.Advert) error { return errNotInvited }}}
			}
			return []p2p.Overlay{{ID: id}}
		}})
		strict, pushy, relay := net.Nodes[0], net.Nodes[1], net.Nodes[2]
		strict.Connect(pushy)
		strict.Connect(relay)
		time.Sleep(5 * time.Second)
		attacker, shout := megaphone(t, net, strict, 20)
		for range 200 {
			setAdvert(t, id, 1, pushy)
			shout(encode(t, relay.Advert(1)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		if score := strict.Score(pushy.ID()); score >= graylist {
			t.Errorf("who says so itself has score %v", score)
		}
		if score := strict.Score(attacker); score != 0 {
			t.Errorf("who relays has score %v", score)
		}
		if n := strict.Stats(); n.Adverts != 0 || n.DroppedAdverts["stranger"] < 200 {
			t.Errorf("%d adverts are known, dropped %v", n.Adverts, n.DroppedAdverts)
		}
	})
}
