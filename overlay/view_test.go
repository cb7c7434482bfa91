package overlay

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"godwit/task"
	"pgregory.net/rapid"
)

// TestView runs the scripts in testdata. Members are single letters; times are
// seconds after the start.
//
//	seen PEER seq=N expires=S [founded=S founder=PEER] [epoch=N]
//	lost PEER | expire S
//
// Each command prints what it answered, then the view.
func TestView(t *testing.T) {
	datadriven.Walk(t, "testdata/view.txt", func(t *testing.T, path string) {
		v := NewView("commons")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out string
			switch d.Cmd {
			case "seen":
				out = fmt.Sprintln("news:", v.Seen(scriptAdvert(t, d)))
			case "lost":
				out = fmt.Sprintln("was a member:", v.Lost(task.PeerID(d.CmdArgs[0].Key)))
			case "expire":
				var s int
				if _, err := fmt.Sscan(d.CmdArgs[0].Key, &s); err != nil {
					d.Fatalf(t, "%v", err)
				}
				out = fmt.Sprintln("gone:", v.Expire(at(s)))
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return out + describe(v)
		})
	})
}

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

func scriptAdvert(t *testing.T, d *datadriven.TestData) Advert {
	a := Advert{Peer: task.PeerID(d.CmdArgs[0].Key), Overlay: "commons"}
	var expires, founded int
	var founder string
	d.ScanArgs(t, "seq", &a.Seq)
	d.ScanArgs(t, "expires", &expires)
	a.Expires = at(expires)
	d.MaybeScanArgs(t, "epoch", &a.Epoch)
	d.MaybeScanArgs(t, "overlay", &a.Overlay)
	if d.MaybeScanArgs(t, "founded", &founded) {
		d.ScanArgs(t, "founder", &founder)
		a.Manifest = Manifest{Name: a.Overlay, Founder: task.PeerID(founder), Founded: at(founded)}
	}
	return a
}

func describe(v *View) string {
	var b strings.Builder
	for _, a := range v.Members() {
		fmt.Fprintf(&b, "%s@%d ", a.Peer, a.Seq)
	}
	leader, term := v.Leader()
	fmt.Fprintf(&b, "leader=%q epoch=%d", leader, term)
	if next, ok := v.NextExpiry(); ok {
		fmt.Fprintf(&b, " next=%v", next.Sub(epoch))
	}
	return b.String() + "\n"
}

// TestViewOrder: whatever order adverts arrive in, members end up with the
// same view and follow the same manifest.
func TestViewOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		adverts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Advert {
			peer := rapid.SampledFrom([]task.PeerID{"a", "b", "c"}).Draw(t, "peer")
			seq := rapid.Uint64Range(1, 5).Draw(t, "seq")
			founder := rapid.SampledFrom([]task.PeerID{"a", "b", "c"}).Draw(t, "founder")
			return Advert{
				Peer: peer, Overlay: "commons", Seq: seq, Epoch: seq,
				Expires: at(int(seq)),
				Manifest: Manifest{
					Name: "commons", Founder: founder,
					Founded:   at(rapid.IntRange(0, 2).Draw(t, "founded")),
					Signature: []byte{rapid.Byte().Draw(t, "signature")},
				},
			}
		}), 0, 12).Draw(t, "adverts")
		// Of one peer and Seq there is one advert: an honest peer never signs two.
		seen := map[string]Advert{}
		for i, a := range adverts {
			name := fmt.Sprint(a.Peer, a.Seq)
			if first, ok := seen[name]; ok {
				adverts[i] = first
			}
			seen[name] = adverts[i]
		}
		one, two := NewView("commons"), NewView("commons")
		shuffled := rapid.Permutation(slices.Clone(adverts)).Draw(t, "order")
		for i := range adverts {
			one.Seen(adverts[i])
			two.Seen(shuffled[i])
			// The manifest travels by itself too, so that one in an advert
			// that was overtaken is not missed.
			one.Follow(adverts[i].Manifest)
			two.Follow(shuffled[i].Manifest)
		}
		if got, want := describe(two), describe(one); got != want {
			t.Fatalf("one order gives %s, another %s", want, got)
		}
		m, n := one.Manifest(), two.Manifest()
		if m.ID() != n.ID() {
			t.Fatalf("two manifests are followed: %+v and %+v", m, n)
		}
	})
}

func TestManifestVerify(t *testing.T) {
	key, peer := someone(1)
	m := Manifest{Name: "commons", Founder: peer, Founded: epoch}
	if err := m.Sign(key); err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Errorf("refused its own signature: %v", err)
	}
	forged := m
	forged.Placement = "other"
	if err := forged.Verify(); err == nil {
		t.Error("accepted a changed manifest")
	}
	forged.Placement = strings.Repeat("p", MaxName+1)
	if err := forged.Sign(key); err == nil {
		t.Error("signed a policy name beyond the bound")
	}
	if m.ID() == forged.ID() {
		t.Error("two manifests, one ID")
	}
}

// TestBetterIsAnOrder: of two different manifests exactly one is better.
func TestBetterIsAnOrder(t *testing.T) {
	gen := rapid.Custom(func(t *rapid.T) Manifest {
		return Manifest{
			Name:    "commons",
			Founder: rapid.SampledFrom([]task.PeerID{"", "a", "b"}).Draw(t, "founder"),
			Founded: at(rapid.IntRange(0, 1).Draw(t, "founded")),
			// Placement makes manifests differ that are otherwise alike.
			Placement: rapid.SampledFrom([]string{"", "x"}).Draw(t, "placement"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := gen.Draw(t, "a"), gen.Draw(t, "b"), gen.Draw(t, "c")
		if !a.IsZero() && !b.IsZero() && !reflect.DeepEqual(a, b) != (a.Better(&b) != b.Better(&a)) {
			t.Fatalf("%+v and %+v are not ordered", a, b)
		}
		if a.Better(&b) && b.Better(&c) && !a.Better(&c) {
			t.Fatal("not transitive")
		}
	})
}
