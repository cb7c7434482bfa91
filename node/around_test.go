package node

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
	"godwit/p2p/bootstrap"
	"godwit/task"
)

// The clock is right, wrong, or cannot be told, by what members' adverts show.
func TestClockFinding(t *testing.T) {
	for _, c := range []struct {
		skew            p2p.Skew
		future, expired uint64
		result, says    string
	}{
		{p2p.Skew{}, 0, 0, owner.OK, "too few"},
		{p2p.Skew{Ahead: time.Second, Members: 5}, 99, 99, owner.OK, "agrees with those of 5"},
		{p2p.Skew{Ahead: 14 * time.Second, Members: 3}, 0, 0, owner.Blind, "14s ahead of"},
		{p2p.Skew{Ahead: -50 * time.Second, Members: 3}, 0, 0, owner.Bad, "50s behind"},
		{p2p.Skew{}, 20, 3, owner.Blind, "may be behind"},
		{p2p.Skew{}, 0, 20, owner.Blind, "may be ahead"},
	} {
		f := clockFinding(c.skew, c.future, c.expired)
		if f.Result != c.result || !strings.Contains(f.Text, c.says) || (f.Fix == "") != (c.result == owner.OK) {
			t.Errorf("%+v, %d, %d: %+v", c.skew, c.future, c.expired, f)
		}
	}
}

// Versions are counted, the most frequent first, and what a member says of itself cannot fill a page.
func TestVersionsFinding(t *testing.T) {
	if f := versionsFinding("1.2", nil); !strings.Contains(f.Text, "no other member") {
		t.Error(f.Text)
	}
	around := map[string]int{"1.2": 7, "1.1": 2, "\x1b[31m\n": 3}
	for i := range 10_000 {
		around[fmt.Sprint("x", i)] = 1
	}
	f := versionsFinding("1.2", around)
	if !strings.Contains(f.Text, `7 of "1.2", 3 of "\x1b[31m\n", 2 of "1.1"`) || len(f.Text) > 300 {
		t.Errorf("%q", f.Text)
	}
}

// What a router does, or does not, is told with what can be done.
func TestRouterFinding(t *testing.T) {
	open := p2p.RouterStatus{Asked: true, By: "PCP", Why: "UDP is refused"}
	silent := p2p.RouterStatus{Asked: true, Why: "it does not answer"}
	for _, c := range []struct {
		s            ReachStatus
		never        bool
		result, says string
	}{
		{ReachStatus{Router: silent, Hidden: true}, false, owner.Blind, "it does not answer"},
		{ReachStatus{Router: silent}, false, owner.OK, "it does not answer"},
		{ReachStatus{}, true, owner.OK, "--no-port-mapping"},
		{ReachStatus{}, false, owner.OK, "no router was asked"},
		{ReachStatus{Router: p2p.RouterStatus{Why: "there is none"}}, false, owner.OK, "there is none"},
	} {
		f := c.s.opened(c.never)
		if f.Result != c.result || !strings.Contains(f.Text, c.says) {
			t.Errorf("%+v: %+v", c.s, f)
		}
	}
	if s := (ReachStatus{Router: open}); !strings.Contains(s.opened(false).Text, "UDP is refused") {
		t.Errorf("%+v", s.opened(false))
	}
}

// A bootstrap list that was made before one that came from the same place is not used, also after a restart.
func TestListOlder(t *testing.T) {
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	trusted := task.PeerIDOf(key.Public().(ed25519.PublicKey))
	file := filepath.Join(t.TempDir(), "list")
	write := func(issued time.Time) {
		peer := overlay.Place{Peer: trusted, Addr: "/ip4/192.0.2.1/tcp/4001"}
		l, err := bootstrap.New([]overlay.Place{peer}, issued, issued.Add(24*time.Hour))
		if err == nil {
			err = l.Sign(key)
		}
		if err == nil {
			err = os.WriteFile(file, l.Text(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "node")
	cfg := realConfig(dir)
	cfg.BootstrapLists, cfg.BootstrapKeys = []string{file}, []task.PeerID{trusted}
	now := time.Now()
	write(now.Add(-time.Hour))
	n, stop := runReal(t, cfg)
	await(t, "the list is used", func() bool { return !n.lists.newest()[file].IsZero() })
	write(now.Add(-2 * time.Hour))
	if err := n.useList(t.Context(), file); !errors.Is(err, bootstrap.ErrOlder) {
		t.Errorf("an older list: %v", err)
	}
	stop()
	n, _ = runReal(t, cfg)
	await(t, "the older list is refused", func() bool { return len(n.lists.notices()) > 0 })
	write(now)
	if err := n.useList(t.Context(), file); err != nil {
		t.Errorf("a newer list: %v", err)
	}
}
