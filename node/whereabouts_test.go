package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/pause"
	"godwit/p2p"
)

// runReal runs a node until the test or the returned function ends it.
func runReal(t *testing.T, cfg Config) (*Node, func()) {
	t.Helper()
	n, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	over := false
	stop := func() {
		if over {
			return
		}
		over = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return n, stop
}

// await waits for what a real node comes to.
func await(t *testing.T, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !there(); {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + what)
		}
		if pause.For(t.Context(), 10*time.Millisecond) != nil {
			t.Fatal(what)
		}
	}
}

// A node that is started again goes to whom it met, though nobody tells it, and stays connected to
// whom its owner named.
func TestWhereaboutsKept(t *testing.T) {
	dir := t.TempDir()
	other, stopOther := runReal(t, realConfig(filepath.Join(dir, "b")))
	a, stop := runReal(t, realConfig(filepath.Join(dir, "a")))
	p, err := a.NamePeer(other.Addrs()[0])
	if err != nil || p != other.ID() {
		t.Fatal(p, err)
	}
	await(t, "the other is a member", func() bool { return len(a.net.Met()) == 1 })
	await(t, "the other has met it too", func() bool { return len(other.net.Met()) == 1 })
	stop()
	a, stop = runReal(t, realConfig(filepath.Join(dir, "a")))
	if named := a.NamedPeers(); len(named) != 1 || named[0].Peer != p {
		t.Fatalf("named are %+v", named)
	}
	await(t, "the peer that was named is met", func() bool { return len(a.net.Peers()) == 1 })
	if err := a.UnnamePeer(p); err != nil {
		t.Fatal(err)
	}
	if err := a.UnnamePeer(p); err == nil {
		t.Error("a peer is taken back twice")
	}
	stop()
	at, _, _ := strings.Cut(other.Addrs()[0], "/p2p/")
	stopOther()
	w := readWhereabouts(filepath.Join(dir, "a", whereaboutsName), slog.Default())
	if len(w.Named) != 0 || len(w.Met) != 1 {
		t.Fatalf("kept: %+v", w)
	}
	b := realConfig(filepath.Join(dir, "b"))
	b.Listen = []string{at} // where it was
	_, _ = runReal(t, b)
	a, _ = runReal(t, realConfig(filepath.Join(dir, "a")))
	await(t, "whom it met is met again", func() bool { return len(a.net.Peers()) == 1 })
}

// The port that was drawn stays, and one that is taken by now does not keep a node from starting.
func TestPortKept(t *testing.T) {
	dir := t.TempDir()
	cfg := realConfig(dir)
	cfg.Listen = nil
	ports := func(n *Node) (found []string) {
		for _, a := range n.Addrs() {
			part := strings.Split(a, "/")
			if !slices.Contains(found, part[4]) {
				found = append(found, part[4])
			}
		}
		return found
	}
	first, stop := runReal(t, cfg)
	before := ports(first)
	stop()
	again, stop := runReal(t, cfg)
	if now := ports(again); len(before) != 1 || !slices.Equal(now, before) {
		t.Errorf("the node listens on %v, and then on %v", before, now)
	}
	other := cfg
	other.DataDir = t.TempDir()
	kept := fmt.Appendf(nil, `{"port": %s}`, before[0])
	if err := os.WriteFile(filepath.Join(other.DataDir, whereaboutsName), kept, 0o600); err != nil {
		t.Fatal(err)
	}
	third, stopThird := runReal(t, other)
	if now := ports(third); slices.Equal(now, before) {
		t.Errorf("two nodes listen on %v", now)
	}
	stopThird()
	stop()
}

// What is on disk is as good as nothing where it is damaged, and what is wrong in it is left out.
func TestWhereaboutsDamaged(t *testing.T) {
	cfg := realConfig(t.TempDir())
	cfg.Log = slog.New(slog.DiscardHandler)
	file := cfg.whereaboutsFile()
	for _, text := range []string{"", "{", `{"met": 7}`, strings.Repeat(" ", maxWhereabouts) + `{"port": 20001}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if w := readWhereabouts(file, cfg.Log); w.Port != 0 || w.Named != nil || w.Met != nil {
			t.Errorf("of %.20q is kept: %+v", text, w)
		}
	}
	good := "/ip4/192.0.2.1/tcp/1/p2p/" + string(peerOf(7))
	w := whereabouts{Named: []string{"nonsense", good},
		Met: []p2p.MetPeer{{Peer: "nobody"}}}
	w.recall(&cfg)
	if len(cfg.Bootstrap) != 1 {
		t.Errorf("of what was named is used: %v", cfg.Bootstrap)
	}
}
