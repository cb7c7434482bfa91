package p2p

import (
	"crypto/ed25519"
	"fmt"
	"testing"
	"time"

	"godwit/overlay"
)

// signed returns an advert of peer i in an overlay, which lives so long, and its bytes.
func signed(t testing.TB, i int, of overlay.ID, issued time.Time, life time.Duration) (overlay.Advert, []byte) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(fmt.Appendf(nil, "%032d", i))
	id, err := PeerIDOf(key)
	if err != nil {
		t.Fatal(err)
	}
	a := overlay.Advert{Peer: id, Overlay: of, Seq: uint64(issued.UnixNano()), Issued: issued, Expires: issued.Add(life)}
	if err := a.Sign(key); err != nil {
		t.Fatal(err)
	}
	b, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// TestRepeated: what is known as it is, is known by its bytes, in its own overlay and while it lives;
// one byte more or less, or another number, is judged anew.
func TestRepeated(t *testing.T) {
	h := serve(t, testConfig('a'))
	m, err := overlay.Named("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Join(Overlay{ID: m.ID()}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a, b := signed(t, 1, m.ID(), now, time.Minute)
	from := h.net.ID()
	if _, v := h.adverts.judge(b, "", from, now); v != isNew {
		t.Fatalf("the first is %v", v)
	}
	if _, known := h.adverts.repeated(b, "", now); known {
		t.Error("it is known before it was learnt")
	}
	if !h.adverts.learn(a, b, from) {
		t.Fatal("it was not learnt")
	}
	if got, known := h.adverts.repeated(b, m.ID(), now); !known || got.Peer != a.Peer {
		t.Error("it is not known")
	}
	other, err := overlay.Named("other")
	if err != nil {
		t.Fatal(err)
	}
	if _, known := h.adverts.repeated(b, other.ID(), now); known {
		t.Error("it is known in the topic of another overlay")
	}
	if _, v := h.adverts.judge(b, "", from, now.Add(2*time.Minute)); v != isStale {
		t.Errorf("one that expired is %v", v)
	}
	for i := range b {
		wrong := append([]byte(nil), b...)
		wrong[i] ^= 1
		if _, known := h.adverts.repeated(wrong, "", now); known {
			t.Fatalf("with byte %d changed it is known", i)
		}
	}
	later, lb := signed(t, 1, m.ID(), now.Add(time.Second), time.Minute)
	h.adverts.learn(later, lb, from)
	if _, known := h.adverts.repeated(b, "", now); known {
		t.Error("one that was replaced is known")
	}
	if err := h.Leave(m.ID()); err != nil {
		t.Fatal(err)
	}
	if _, known := h.adverts.repeated(lb, "", now); known {
		t.Error("one of an overlay that was left is known")
	}
}

// TestRepeatsBounded: names without end do not fill the memory.
func TestRepeatsBounded(t *testing.T) {
	r := repeats{}
	for i := range 3 * maxRepeats {
		r.note(&overlay.Advert{}, fmt.Append(nil, i))
		if len(r) > maxRepeats {
			t.Fatalf("%d are remembered", len(r))
		}
	}
}

// BenchmarkJudge is what an advert costs that is known, as those of a hello are.
func BenchmarkJudge(b *testing.B) {
	h := serve(b, testConfig('a'))
	m, err := overlay.Named("test")
	if err != nil {
		b.Fatal(err)
	}
	if err := h.Join(Overlay{ID: m.ID()}); err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	a, bytes := signed(b, 1, m.ID(), now, overlay.MaxAdvertLife)
	h.adverts.learn(a, bytes, h.net.ID())
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			h.adverts.judge(bytes, "", h.net.ID(), now)
		}
	})
	b.Run("opened", func(b *testing.B) {
		for b.Loop() {
			h.adverts.open(bytes, "", now)
		}
	})
}
