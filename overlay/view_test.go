package overlay

import (
	"fmt"
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
//	seen PEER seq=N expires=S [other]
//	lost PEER | expire S
//
// Each command prints what it answered, then the view.
func TestView(t *testing.T) {
	datadriven.Walk(t, "testdata/view.txt", func(t *testing.T, path string) {
		v := NewView(commons)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out string
			switch d.Cmd {
			case "seen":
				out = fmt.Sprintln("news:", v.Seen(ref(scriptAdvert(t, d))))
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
	a := Advert{Peer: task.PeerID(d.CmdArgs[0].Key), Overlay: commons}
	var expires int
	d.ScanArgs(t, "seq", &a.Seq)
	d.ScanArgs(t, "expires", &expires)
	a.Expires = at(expires)
	if d.HasArg("other") {
		a.Overlay = task.RawCID(nil)
	}
	return a
}

func describe(v *View) string {
	var b strings.Builder
	for _, a := range v.Members() {
		fmt.Fprintf(&b, "%s@%d ", a.Peer, a.Seq)
	}
	fmt.Fprintf(&b, "members=%d", len(v.Members()))
	if next, ok := v.NextExpiry(); ok {
		fmt.Fprintf(&b, " next=%v", next.Sub(epoch))
	}
	return b.String() + "\n"
}

// TestViewOrder: whatever order adverts and manifests arrive in, members follow
// the same manifest, and have the same view once they heard each advert again: one
// that a rule refused which did not last is not remembered.
func TestViewOrder(t *testing.T) {
	founder, _ := someone(100)
	peers := []task.PeerID{}
	for i := range byte(4) {
		_, p := someone(i)
		peers = append(peers, p)
	}
	slices.Sort(peers)
	first, _ := manifestOf(t, Listed, peers)
	rapid.Check(t, func(t *rapid.T) {
		manifests := []Manifest{first}
		for range rapid.IntRange(0, 3).Draw(t, "versions") {
			m := rapid.SampledFrom(manifests).Draw(t, "after")
			m = m.Next()
			m.Allowed = slices.DeleteFunc(m.Allowed, func(task.PeerID) bool { return rapid.IntRange(0, 3).Draw(t, "off") == 0 })
			if err := m.Sign(founder); err != nil {
				t.Fatal(err)
			}
			manifests = append(manifests, m)
		}
		var events []any
		for _, m := range manifests[1:] {
			events = append(events, m)
		}
		for range rapid.IntRange(0, 12).Draw(t, "adverts") {
			peer, seq := rapid.SampledFrom(peers).Draw(t, "peer"), rapid.Uint64Range(1, 5).Draw(t, "seq")
			events = append(events, Advert{Peer: peer, Overlay: first.ID(), Seq: seq, Expires: at(int(seq))})
		}
		one, two := NewView(first.ID()), NewView(first.ID())
		feed := func(v *View, e any) {
			switch e := e.(type) {
			case Manifest:
				v.SetManifest(e)
			case Advert:
				v.Seen(&e)
			}
		}
		one.SetManifest(first)
		two.SetManifest(first)
		shuffled := rapid.Permutation(slices.Clone(events)).Draw(t, "order")
		for i := range events {
			feed(one, events[i])
			feed(two, shuffled[i])
		}
		for i := range events {
			feed(one, events[i])
			feed(two, events[i])
		}
		if got, want := describe(two), describe(one); got != want {
			t.Fatalf("one order gives %s, another %s", want, got)
		}
		m, n := one.Manifest(), two.Manifest()
		if m.CID() != n.CID() {
			t.Fatalf("two manifests are followed: %+v and %+v", m, n)
		}
		for _, a := range one.Members() {
			if one.Admits(&a) != nil {
				t.Fatalf("%s is a member, and not admitted", a.Peer)
			}
		}
	})
}

// TestViewAdmits: who the manifest does not admit is no member, who is no longer
// admitted is dropped, and an expired pass ends with the next advert.
func TestViewAdmits(t *testing.T) {
	m, founder := manifestOf(t, Invited, nil)
	ticket := ticketOf(t, &m, founder)
	_, guest := someone(1)
	_, stranger := someone(2)
	pass, err := ticket.Pass(guest)
	if err != nil {
		t.Fatal(err)
	}
	v := NewView(m.ID())
	other, _ := Named("other")
	if v.SetManifest(other); !v.Seen(&Advert{Peer: stranger, Overlay: m.ID(), Seq: 1, Issued: epoch}) {
		t.Error("took another overlay's manifest for its own, or admits nobody without one")
	}
	if gone := v.SetManifest(m); !slices.Equal(gone, []task.PeerID{stranger}) {
		t.Errorf("dropped %v, want the stranger", gone)
	}
	advert := func(peer task.PeerID, seq uint64, issued time.Time) Advert {
		return Advert{Peer: peer, Overlay: m.ID(), Seq: seq, Issued: issued, Expires: issued.Add(time.Hour), Pass: pass}
	}
	if v.Seen(ref(advert(stranger, 2, epoch))) {
		t.Error("admits a stranger with another's pass")
	}
	if !v.Seen(ref(advert(m.Founder, 1, epoch))) || !v.Seen(ref(advert(guest, 1, epoch))) {
		t.Error("the founder or a guest is not admitted")
	}
	if v.Seen(ref(advert(guest, 2, ticket.Expires))) {
		t.Error("a renewal is admitted after the pass expired")
	}
	next := m.Next()
	next.InvitesFrom = ticket.Issued.Add(time.Millisecond)
	if err := next.Sign(founder); err != nil {
		t.Fatal(err)
	}
	if gone := v.SetManifest(next); !slices.Equal(gone, []task.PeerID{guest}) || len(v.Members()) != 1 {
		t.Errorf("dropped %v, want the guest whose pass was revoked", gone)
	}
	if v.SetManifest(m); v.manifest.Version != 1 {
		t.Error("went back to an older version")
	}
}

func ref[T any](v T) *T { return &v }

// Workers are those that lend slots by the newest that they said.
func TestViewWorkers(t *testing.T) {
	v := NewView(commons)
	for k, slots := range []int{1, 0, 4} {
		v.Seen(&Advert{Peer: task.PeerID("cab"[k : k+1]), Overlay: commons, Seq: 1, Expires: at(9), Slots: slots})
	}
	if got := fmt.Sprint(v.Workers()); got != "[b c]" {
		t.Errorf("%s", got)
	}
	v.Seen(&Advert{Peer: "c", Overlay: commons, Seq: 2, Expires: at(9)})
	v.Seen(&Advert{Peer: "a", Overlay: commons, Seq: 2, Expires: at(9), Slots: 1})
	if got := fmt.Sprint(v.Workers()); got != "[a b]" {
		t.Errorf("later %s", got)
	}
}
