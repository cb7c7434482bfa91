package p2p_test

import (
	"bufio"
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/p2p/wire"
	"godwit/task"
)

// A doorkeeper notes who is in what when it is asked for blocks.
type doorkeeper struct {
	mu     sync.Mutex
	host   *testnet.Node
	shared [][]overlay.ID
}

// serve reads one question on the stream and looks who asks.
func (d *doorkeeper) serve(_ context.Context, from task.PeerID, s *wire.Stream) {
	defer s.Close()
	if _, err := wire.ReadFrame(bufio.NewReader(s), 16, nil); err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := d.host.Shared(from)
	slices.Sort(ids)
	d.shared = append(d.shared, ids)
}

// ask has a node ask for blocks, and returns in what overlays it is for the other, and after how
// long the question could be asked.
func (d *doorkeeper) ask(t *testing.T, n *testnet.Node) (shared []overlay.ID, took time.Duration) {
	t.Helper()
	begun := time.Now()
	s, end, err := n.AskBlocks(t.Context(), d.host.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	took = time.Since(begun)
	if _, err := s.Write([]byte{1, 0}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	_, _ = s.Read(make([]byte, 1)) // until it is closed
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.shared) == 0 {
		t.Fatal("nobody was asked")
	}
	return d.shared[len(d.shared)-1], took
}

// Who asks for blocks is known for a member by then, though it has become one this moment;
// and for none once it is not admitted any more.
func TestIntroduction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab, commons := testnet.Overlay("lab"), testnet.Overlay("commons")
		d, rule := &doorkeeper{}, &guests{}
		closed := p2p.Overlay{ID: lab, Closed: true, Admit: rule.admit}
		net := testnet.New(t, 2, testnet.Options{
			Overlays: func(i int) []p2p.Overlay {
				if i == 0 {
					return []p2p.Overlay{{ID: commons}, closed}
				}
				return []p2p.Overlay{{ID: commons}}
			},
			Config: func(i int, cfg *p2p.Config) {
				if i == 0 {
					cfg.OnBlocks = d.serve
				}
			},
		})
		d.host = net.Nodes[0]
		asker := net.Nodes[1]
		rule.set(d.host.ID(), asker.ID())
		time.Sleep(10 * time.Second)
		if got, _ := d.ask(t, asker); len(got) != 0 {
			t.Errorf("who says nothing of itself is in %v", got)
		}
		setAdvert(t, commons, 1, asker)
		if got, _ := d.ask(t, asker); !slices.Equal(got, []overlay.ID{commons}) {
			t.Errorf("a member of the open overlay is in %v", got)
		}
		if err := asker.Join(closed); err != nil {
			t.Fatal(err)
		}
		setAdvert(t, lab, 1, asker)
		both := []overlay.ID{lab, commons}
		slices.Sort(both)
		if got, _ := d.ask(t, asker); !slices.Equal(got, both) {
			t.Errorf("who has joined this moment is in %v", got)
		}
		if got, took := d.ask(t, asker); !slices.Equal(got, both) || took > 0 {
			t.Errorf("who was introduced says so again: %v, in %v", took, got)
		}
		rule.set(d.host.ID())
		if err := d.host.Recheck(lab); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // it is disconnected
		if got, _ := d.ask(t, asker); !slices.Equal(got, []overlay.ID{commons}) {
			t.Errorf("who is not admitted any more is in %v", got)
		}
	})
}
