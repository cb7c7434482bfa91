package p2p

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// quiet is a handler that wants to know nothing.
type quiet struct{}

func (quiet) Frame(task.PeerID, []byte) {}
func (quiet) Connected(task.PeerID)     {}
func (quiet) Disconnected(task.PeerID)  {}
func (quiet) Trimmed(task.PeerID)       {}
func (quiet) Advert(overlay.Advert)     {}
func (quiet) Request(_ context.Context, _ task.PeerID, _ string, body []byte) ([]byte, error) {
	return body, nil
}

// listener passes on who has connected.
type listener struct {
	quiet
	connected chan task.PeerID
}

func (l listener) Connected(p task.PeerID) { l.connected <- p }

func serve(t testing.TB, cfg Config) *Host {
	t.Helper()
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return h
}

func testConfig(i byte) Config {
	return Config{
		Key: ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(i), 32))), Listen: []string{"/ip4/127.0.0.1/tcp/0"},
		Handler: quiet{},
	}
}

// Nodes with the swarm key connect; one without it, or with another, is refused.
func TestPrivateSwarm(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "swarm.key")
	text := "/key/swarm/psk/1.0.0/\n/base16/\n" + hex.EncodeToString([]byte(strings.Repeat("k", 32))) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := LoadSwarmKey(path)
	if err != nil {
		t.Fatal(err)
	}
	first := testConfig('a')
	first.SwarmKey = key
	member := serve(t, first)

	second := testConfig('b')
	second.SwarmKey, second.Bootstrap = key, member.Addrs()
	heard := listener{connected: make(chan task.PeerID, 1)}
	second.Handler = heard
	serve(t, second)
	if p := <-heard.connected; p != member.ID() {
		t.Errorf("connected to %s, want %s", p, member.ID())
	}

	for i, other := range [][]byte{nil, []byte(strings.Repeat("x", 32))} {
		cfg := testConfig('c' + byte(i))
		cfg.SwarmKey = other
		stranger := serve(t, cfg)
		stranger.AddAddrs(member.ID(), member.AdvertAddrs(4), time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if _, err := stranger.Request(ctx, member.ID(), "hello", nil); err == nil {
			t.Errorf("stranger %d was let in", i)
		}
		cancel()
	}
}

// TCP and QUIC both carry everything; the member is where its addresses say.
func TestTransports(t *testing.T) {
	for transport, listen := range map[string]string{
		"tcp": "/ip4/127.0.0.1/tcp/0", "quic": "/ip4/127.0.0.1/udp/0/quic-v1",
	} {
		cfg := testConfig('a')
		cfg.Listen = []string{listen}
		a := serve(t, cfg)
		cfg = testConfig('b')
		cfg.Listen = []string{listen}
		b := serve(t, cfg)
		b.AddAddrs(a.ID(), a.AdvertAddrs(overlay.MaxAddrs), time.Hour)
		if got, err := b.Request(t.Context(), a.ID(), "echo", []byte("x")); string(got) != "x" || err != nil {
			t.Errorf("%s: %q, %v", transport, got, err)
		}
		if p := b.Peers(); len(p) != 1 || p[0].Transport != transport || p[0].Direction != "out" {
			t.Errorf("%s: peers %+v", transport, p)
		}
	}
}

// On the local network TCP goes first, elsewhere QUIC.
func TestRankAddrs(t *testing.T) {
	for host, want := range map[string]string{"127.0.0.1": "tcp", "192.168.1.2": "tcp", "8.8.8.8": "quic"} {
		ranked := rankAddrs([]ma.Multiaddr{
			ma.StringCast("/ip4/" + host + "/udp/1/quic-v1"), ma.StringCast("/ip4/" + host + "/tcp/1"),
		})
		first := slices.MinFunc(ranked, func(a, b network.AddrDelay) int { return cmp.Compare(a.Delay, b.Delay) })
		if got := transportOf(first.Addr); got != want || len(ranked) != 2 || ranked[0].Delay == ranked[1].Delay {
			t.Errorf("%s: first %s, want %s: %v", host, got, want, ranked)
		}
	}
}

// A relay is dialled after what is direct, wherever that is; at once where there
// is nothing else.
func TestRankCircuits(t *testing.T) {
	circuit := ma.StringCast("/ip4/10.0.0.9/tcp/1/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA/p2p-circuit")
	for _, direct := range []string{"", "/ip4/192.168.1.2/tcp/1", "/ip4/8.8.8.8/udp/1/quic-v1"} {
		addrs, want := []ma.Multiaddr{circuit}, time.Duration(0)
		if direct != "" {
			addrs, want = append(addrs, ma.StringCast(direct)), 500*time.Millisecond
		}
		for _, r := range rankAddrs(addrs) {
			if isCircuit(r.Addr) && r.Delay != want {
				t.Errorf("beside %q a circuit waits %v, want %v", direct, r.Delay, want)
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no key", func(c *Config) { c.Key = nil }, "Ed25519"},
		{"circuits of less than nothing", func(c *Config) { c.Relaying.Bytes = -1 }, "Off"},
		{"circuits of half a second", func(c *Config) { c.Relaying.Time = time.Second / 2 }, "whole seconds"},
		{"no handler", func(c *Config) { c.Handler = nil }, "handler"},
		{"bad listen address", func(c *Config) { c.Listen = []string{"localhost:80"} }, `"localhost:80"`},
		{"bootstrap without ID", func(c *Config) { c.Bootstrap = []string{"/ip4/127.0.0.1/tcp/1"} }, "/p2p/"},
		{"QUIC in a private swarm", func(c *Config) {
			c.SwarmKey, c.Listen = make([]byte, 32), []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
		}, "TCP"},
		{"short swarm key", func(c *Config) { c.SwarmKey = make([]byte, 31) }, "31 bytes"},
		{"address in use by nobody here", func(c *Config) { c.Listen = []string{"/ip4/192.0.2.1/tcp/1"} }, "192.0.2.1"},
	}
	for _, tt := range tests {
		cfg := testConfig('a')
		tt.change(&cfg)
		h, err := New(cfg)
		if err == nil {
			h.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want a word of %q", tt.name, err, tt.want)
		}
	}
}

// A key that is stored is found, and replaces none.
func TestStoreKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	stored := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	if err := StoreKey(path, stored); err != nil {
		t.Fatal(err)
	}
	if key, err := LoadOrCreateKey(path); err != nil || !key.Equal(stored) {
		t.Errorf("another key was found: %v", err)
	}
	if err := StoreKey(path, stored); err == nil {
		t.Error("a key was replaced")
	}
}

func TestLoadOrCreateKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	key, err := LoadOrCreateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadOrCreateKey(path)
	if err != nil || !key.Equal(again) {
		t.Errorf("the second load gave another key, %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrCreateKey(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is no key: %v", err)
	}
	if _, err := LoadSwarmKey(path); err == nil || !strings.Contains(err.Error(), "/key/swarm/psk/1.0.0/") {
		t.Errorf("a file that is no swarm key: %v", err)
	}
}

// A key file with any one byte changed, removed or added is refused, and never replaced.
func TestLoadKeyDetectsEveryDamagedByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if _, err := LoadOrCreateKey(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{nil, whole[:len(whole)/2], append(slices.Clone(whole), 0)}
	for i := range whole {
		for _, bit := range []byte{1, 0x80} {
			b := slices.Clone(whole)
			b[i] ^= bit
			damaged = append(damaged, b, slices.Delete(slices.Clone(whole), i, i+1))
		}
	}
	for _, b := range damaged {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadOrCreateKey(path); !errors.Is(err, ErrKeyDamaged) || !strings.Contains(err.Error(), path) {
			t.Fatalf("%x of %x: %v", b, whole, err)
		}
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, b) {
			t.Fatalf("the damaged file was replaced: %v", err)
		}
	}
}

// Whatever the bytes of a key file, a key that is accepted is stored as these bytes.
func FuzzOpenKey(f *testing.F) {
	path := filepath.Join(f.TempDir(), "key")
	if err := StoreKey(path, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		key, err := openKey(b)
		if err == nil && !key.Equal(ed25519.NewKeyFromSeed(key.Seed())) {
			t.Errorf("%x was accepted", b)
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	to, from := serve(b, testConfig('a')), serve(b, testConfig('b'))
	from.AddAddrs(to.ID(), to.AdvertAddrs(8), 0)
	for b.Loop() {
		if _, err := from.Request(b.Context(), to.ID(), "echo", []byte("x")); err != nil {
			b.Fatal(err)
		}
	}
}
