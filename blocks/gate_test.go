package blocks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/ipfs/go-cid"
)

// A guarded is a network whose first node gives its blocks to members alone.
type guarded struct {
	t      *testing.T
	net    *testnet.Net
	gate   *blocks.Gate
	holder *testnet.Node
	in     map[task.PeerID][]string // the overlays that a reader is in
	roots  map[string][]task.CID    // what the holder says when it is asked for all
	asked  int                      // how often it was
}

// guard makes a holder and as many readers as there are overlays: each is in its own.
func guard(t *testing.T, overlays ...string) *guarded {
	g := &guarded{t: t, in: map[task.PeerID][]string{}, roots: map[string][]task.CID{}}
	g.net = testnet.New(t, 1+len(overlays), testnet.Options{Alone: true, Config: func(i int, cfg *p2p.Config) {
		if i == 0 {
			cfg.OnBlocks = func(ctx context.Context, from task.PeerID, s *wire.Stream) {
				g.gate.Serve(ctx, from, s, func() []string { return g.in[from] })
			}
		}
	}})
	g.holder = g.net.Nodes[0]
	g.restart()
	for i, o := range overlays {
		reader := g.net.Nodes[1+i]
		reader.Connect(g.holder)
		if o != "" {
			g.in[reader.ID()] = []string{o}
		}
	}
	return g
}

// restart has the holder know nothing but its blocks.
func (g *guarded) restart() {
	g.gate = blocks.NewGate(g.holder.Blocks(), slog.New(slog.DiscardHandler),
		func(context.Context) (map[string][]task.CID, error) {
			g.asked++
			return maps.Clone(g.roots), nil
		})
}

// gets reports how many bytes of a root the reader of a number has fetched.
func (g *guarded) gets(reader int, root task.CID) int64 {
	g.t.Helper()
	n := g.net.Nodes[reader]
	err := n.Blocks().Fetch(g.t.Context(), root, testnet.IDs(g.holder), blocks.AtMost(1<<40))
	if err != nil && !errors.Is(err, blocks.ErrNotFound) {
		g.t.Fatal(err)
	}
	size := n.Blocks().Size()
	if err := n.Blocks().DeleteDAG(g.t.Context(), root); err != nil {
		g.t.Fatal(err)
	}
	return size
}

// The readers of these tests.
const (
	ofA = 1 + iota
	ofB
	stranger
)

func TestGate(t *testing.T) {
	const size = 1 << 20 // several blocks below one root
	for _, tt := range []struct {
		name string
		note func(g *guarded, root task.CID)
		gets map[int]bool // which readers do
	}{
		{"nobody's", func(*guarded, task.CID) {}, nil},
		{"of one overlay", func(g *guarded, root task.CID) { g.gate.Note("a", root) }, map[int]bool{ofA: true}},
		{"of the other", func(g *guarded, root task.CID) { g.gate.Note("b", root) }, map[int]bool{ofB: true}},
		{"shared", func(g *guarded, root task.CID) {
			g.gate.Note("a", root)
			g.gate.Note("b", root)
		}, map[int]bool{ofA: true, ofB: true}},
		{"known after a start", func(g *guarded, root task.CID) { g.roots["a"] = []task.CID{root} }, map[int]bool{ofA: true}},
		{"of an overlay that was left", func(g *guarded, root task.CID) {
			g.gate.Note("a", root)
			g.gate.Leave("a")
		}, nil},
		{"of a member that is none any more", func(g *guarded, root task.CID) {
			g.gate.Note("a", root)
			delete(g.in, g.net.Nodes[ofA].ID())
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := guard(t, "a", "b", "")
				root := importInto(t, content(size), g.holder)
				g.in[g.net.Nodes[ofB].ID()] = append(g.in[g.net.Nodes[ofB].ID()], "c")
				tt.note(g, root)
				for _, reader := range []int{stranger, ofB, ofA, stranger} {
					if got := g.gets(reader, root); (got >= size) != tt.gets[reader] || got > 0 && !tt.gets[reader] {
						t.Errorf("reader %d has %d bytes", reader, got)
					}
				}
				if g.asked > 1 {
					t.Errorf("all roots were asked for %d times", g.asked)
				}
			})
		})
	}
}

// twoLevels is the size of a file whose root leads to nodes, and these to its bytes.
const twoLevels = 46 << 20

// leaves lists the blocks below a file's root.
func leaves(t *testing.T, b *blocks.Store, root task.CID) []task.CID {
	t.Helper()
	list, err := b.Links(t.Context(), root)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d blocks below %s, %v", len(list), root, err)
	}
	return list
}

// Who has the root and asks for what is below it alone, as after a fetch that broke off, gets it.
func TestGateGivesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, "a", "b")
		root := importInto(t, content(twoLevels), g.holder)
		parts := leaves(t, g.holder.Blocks(), root)
		deep, own := leaves(t, g.holder.Blocks(), parts[0])[3], leaves(t, g.holder.Blocks(), parts[1])[0]
		g.gate.Note("a", root)
		g.gate.Note("b", parts[1])
		for _, c := range []struct {
			reader int
			what   task.CID
			gets   bool
		}{{ofB, deep, false}, {ofA, deep, true}, {ofA, own, true}, {ofB, deep, false}, {ofB, root, false},
			{ofB, own, true}, {ofB, parts[0], false}, {ofB, parts[1], true}} {
			if got := g.gets(c.reader, c.what); got > 0 != c.gets {
				t.Errorf("reader %d has %d bytes of %s", c.reader, got, c.what)
			}
		}
	})
}

// What came after a root was looked at is given as well.
func TestGateOfAPartialRoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, "a")
		b := g.holder.Blocks()
		root := importInto(t, content(twoLevels), g.holder)
		part := leaves(t, b, root)[1]
		deep := leaves(t, b, part)[0]
		other := importInto(t, []byte("nobody's"), g.holder)
		node, err := b.Get(t.Context(), part)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Delete(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		g.gate.Note("a", root)
		g.roots["a"] = []task.CID{root}
		if g.gets(ofA, other) > 0 || g.gets(ofA, deep) > 0 {
			t.Fatal("it is given before it can be known whose it is")
		}
		if err := b.PutNode(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second) // all roots were asked for a moment ago
		if g.gets(ofA, deep) == 0 {
			t.Error("it is not given once all of the root is here")
		}
	})
}

// The bytes of a leaf that read like a node's do not make what they name a reader's.
func TestGateTellsLeavesFromNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, "a", "b")
		b := g.holder.Blocks()
		secret := importInto(t, content(1<<20), g.holder)
		g.gate.Note("b", secret)
		node, err := b.Get(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		raw := importInto(t, node, g.holder) // the same bytes, as an input of a job of a's
		if raw == secret {
			t.Fatal("the leaf is the node")
		}
		g.gate.Note("a", raw)
		if g.gets(ofA, raw) == 0 {
			t.Error("a's own input is not given")
		}
		if g.gets(ofA, secret) > 0 || g.gets(ofA, leaves(t, b, secret)[0]) > 0 {
			t.Error("what only looks like a node opens the way to another overlay's blocks")
		}
	})
}

// TestGateTellsNothing: what is answered to who may not have a block is what is answered to
// who asks for one that is nowhere, byte for byte and as soon.
func TestGateTellsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, "a", "")
		secret := importInto(t, []byte("a closed overlay's"), g.holder)
		g.gate.Note("a", secret)
		nowhere, err := blocks.CIDOfBytes([]byte("nobody has this"))
		if err != nil {
			t.Fatal(err)
		}
		answer := func(c task.CID) (string, time.Duration) {
			id, err := cid.Decode(string(c))
			if err != nil {
				t.Fatal(err)
			}
			s, end, err := g.net.Nodes[2].AskBlocks(t.Context(), g.holder.ID())
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			begun := time.Now()
			if _, err := s.Write(append(binary.AppendUvarint(nil, uint64(id.ByteLen())), id.Bytes()...)); err != nil {
				t.Fatal(err)
			}
			if err := s.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(b), time.Since(begun)
		}
		a, slow := answer(secret)
		b, fast := answer(nowhere)
		if a != b || slow != fast {
			t.Errorf("%q after %v for what may not be had, %q after %v for what is nowhere", a, slow, b, fast)
		}
	})
}

// TestGateAsksSeldom: who asks for what is another's again and again does not have all roots
// listed each time.
func TestGateAsksSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, "a", "b")
		g.roots["b"] = []task.CID{importInto(t, content(1<<20), g.holder)}
		all := slices.Clone(leaves(t, g.holder.Blocks(), g.roots["b"][0]))
		g.gate.Note("a", importInto(t, []byte("a's"), g.holder))
		for range 100 {
			for _, c := range all {
				if g.gets(ofA, c) > 0 {
					t.Fatal("another's block is given")
				}
			}
		}
		if g.asked > 10 {
			t.Errorf("all roots were listed %d times", g.asked)
		}
	})
}
