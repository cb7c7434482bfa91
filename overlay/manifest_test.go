package overlay

import (
	"bytes"
	"crypto/ed25519"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/internal/roundtrip"
	"godwit/task"
)

// manifestOf returns a manifest signed by someone(100) and that key.
func manifestOf(tb interface {
	Helper()
	Fatal(...any)
}, admission Admission, allowed []task.PeerID) (Manifest, ed25519.PrivateKey) {
	tb.Helper()
	key, founder := someone(100)
	m := Manifest{Name: "weather", Founder: founder, Founded: epoch, Admission: admission, Allowed: allowed}
	if err := m.Sign(key); err != nil {
		tb.Fatal(err)
	}
	return m, key
}

// TestPrioritiesRule: priorities are let count where they would not anyway, and nowhere else. Each submitter's slots are
// limited only where a submitter has one key.
func TestPrioritiesRule(t *testing.T) {
	for _, a := range []Admission{Open, Invited, Listed} {
		m, key := manifestOf(t, a, nil)
		n := m.Next()
		n.Priorities = true
		if err := n.Sign(key); (err == nil) != (a == Open) {
			t.Errorf("%v: signed with priorities: %v", a, err)
		}
		n = m.Next()
		n.SlotsEach = MaxSlotsEach
		if err := n.Sign(key); (err == nil) != (a != Open) {
			t.Errorf("%v: signed with a limit on each submitter's slots: %v", a, err)
		}
		if n.SlotsEach++; n.Sign(key) == nil {
			t.Errorf("%v: signed with a limit of %d slots", a, n.SlotsEach)
		}
	}
}

// A floor has what rules can say, and nothing that is a job's.
func TestManifestFloor(t *testing.T) {
	for _, v := range []task.Verify{{}, {Audits: 1, Draw: make([]byte, 32)}, {Audits: 1, Confirm: "exit code 1"},
		{Audits: 1, Wrong: 1}} {
		m, key := manifestOf(t, Open, nil)
		n := m.Next()
		n.Checks = &v
		if err := n.Sign(key); err == nil {
			t.Errorf("signed with a floor of %+v", v)
		}
	}
}

// someManifest draws manifests that their founder can sign.
var someManifest = rapid.Custom(func(t *rapid.T) Manifest {
	_, founder := someone(100)
	m := Manifest{
		Name: rapid.StringMatching(`[a-zé ]{1,20}`).Draw(t, "name"), Founder: founder,
		Founded:      epoch.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(t, "founded")) * time.Microsecond),
		Placement:    rapid.SampledFrom([]string{"", "fcfspp:n=3"}).Draw(t, "placement"),
		Migration:    rapid.SampledFrom([]string{"", "cbr"}).Draw(t, "migration"),
		Fairness:     rapid.SampledFrom([]string{"", "sep:load=90"}).Draw(t, "fairness"),
		Chunking:     rapid.SampledFrom([]string{"", "gss"}).Draw(t, "chunking"),
		Coordinators: rapid.IntRange(0, MaxGroup).Draw(t, "coordinators"),
		Replicas:     rapid.IntRange(0, task.MaxReplicas).Draw(t, "replicas"),
		Admission:    Admission(rapid.IntRange(0, int(Listed)).Draw(t, "admission")),
	}
	m.Undivided = rapid.Bool().Draw(t, "undivided")
	if rapid.Bool().Draw(t, "checks") {
		m.Replicas = min(m.Replicas, 1)
		m.Checks, _ = task.ParseVerify(rapid.SampledFrom([]string{"off", "5%", "full", "1e-3"}).Draw(t, "verify"))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "trusted") {
		_, p := someone(byte(i))
		m.Trusted = append(m.Trusted, p)
	}
	slices.Sort(m.Trusted)
	if m.Admission != Open {
		m.SlotsEach = rapid.IntRange(0, MaxSlotsEach).Draw(t, "slots each")
	}
	switch m.Admission {
	case Open:
		m.Priorities = rapid.Bool().Draw(t, "priorities")
	case Invited:
		m.InvitesFrom = epoch.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "from")) * time.Microsecond)
	case Listed:
		for i := range rapid.IntRange(0, 20).Draw(t, "allowed") {
			_, p := someone(byte(i))
			m.Allowed = append(m.Allowed, p)
		}
		slices.Sort(m.Allowed)
	}
	return m
})

// TestManifestComesBack: what is signed and encoded opens as what it was, under
// the ID of its first version.
func TestManifestComesBack(t *testing.T) {
	key, _ := someone(100)
	rapid.Check(t, func(t *rapid.T) {
		m := someManifest.Draw(t, "manifest")
		if err := m.Sign(key); err != nil {
			t.Fatal(err)
		}
		id := m.ID()
		for range rapid.IntRange(0, 3).Draw(t, "versions") {
			n := m.Next()
			n.Placement = rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "policy")
			if err := n.Sign(key); err != nil {
				t.Fatal(err)
			}
			if !n.Succeeds(&m) || m.Succeeds(&n) {
				t.Fatalf("version %d does not succeed version %d alone", n.Version, m.Version)
			}
			m = n
		}
		b, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := OpenManifest(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, m) || got.ID() != id || got.CID() != task.RawCID(b) {
			t.Fatalf("got %+v, want %+v of %s", got, m, id)
		}
		if back, err := ParseID(string(id)); err != nil || back != id {
			t.Fatalf("ParseID: %v, %v", back, err)
		}
	})
}

// TestNamed: a pool of a name is the same on every node, is open to all, and
// nothing succeeds it.
func TestNamed(t *testing.T) {
	m, err := Named("commons")
	if err != nil {
		t.Fatal(err)
	}
	// A node of another release must find this overlay under the same ID.
	if got, want := m.ID(), ID("bafkreid5itgmmdpsjwzfvvxu5lqsucp6uk2r5ea47resvoew3oapfavr34"); got != want {
		t.Errorf("ID %s, want %s", got, want)
	}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := OpenManifest(b); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("got %+v, %v", got, err)
	}
	old, err := encoder.Marshal(manifestWire{Name: "commons"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenManifest(old); err == nil || !strings.Contains(err.Error(), "update the older") {
		t.Errorf("a pool of before opens: %v", err)
	}
	_, anyone := someone(1)
	if err := m.Admits(anyone, nil, epoch); err != nil || m.Group() != GroupSize {
		t.Errorf("admits %v, group of %d", err, m.Group())
	}
	key, _ := someone(1)
	next := m.Next()
	if next.Sign(key) == nil || next.Verify() == nil || next.Succeeds(&m) {
		t.Error("a pool without a founder has a second version")
	}
	for name, change := range map[string]func(*Manifest){
		"a policy":     func(m *Manifest) { m.Placement = "flp" },
		"coordinators": func(m *Manifest) { m.Coordinators = 3 },
		"a time":       func(m *Manifest) { m.Founded = epoch },
		"a signature":  func(m *Manifest) { m.Signature = []byte{1} },
		"admission":    func(m *Manifest) { m.Admission = Listed },
	} {
		forged := m
		change(&forged)
		b, err := forged.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenManifest(b); err == nil {
			t.Errorf("accepted a pool without a founder and with %s", name)
		}
	}
	for _, name := range []string{"", strings.Repeat("n", MaxName+1), "\x1b[31mred", "\xff"} {
		if _, err := Named(name); err == nil {
			t.Errorf("a pool may be called %q", name)
		}
	}
}

func TestOpenManifestRefuses(t *testing.T) {
	_, a := someone(1)
	_, b := someone(2)
	up, down := []task.PeerID{min(a, b), max(a, b)}, []task.PeerID{max(a, b), min(a, b)}
	tests := []struct {
		name   string
		change func(*Manifest) // behind the signature's back
		want   string
	}{
		{"forged", func(m *Manifest) { m.Placement = "other" }, "wrong signature"},
		{"not signed", func(m *Manifest) { m.Signature = nil }, "wrong signature"},
		{"another's", func(m *Manifest) { m.Founder = a }, "wrong signature"},
		{"a long policy", func(m *Manifest) { m.Placement = strings.Repeat("p", MaxPolicy+1) }, "placement policy"},
		{"a long migration", func(m *Manifest) { m.Migration = strings.Repeat("p", MaxPolicy+1) }, "migration policy"},
		{"a long fairness", func(m *Manifest) { m.Fairness = strings.Repeat("p", MaxPolicy+1) }, "fairness policy"},
		{"a long chunking", func(m *Manifest) { m.Chunking = strings.Repeat("p", MaxPolicy+1) }, "chunking policy"},
		{"a policy with a line end", func(m *Manifest) { m.Migration = "a\nb" }, "does not print"},
		{"a crowd", func(m *Manifest) { m.Coordinators = MaxGroup + 1 }, "coordinators"},
		{"less than nobody", func(m *Manifest) { m.Coordinators = -1 }, "coordinators"},
		{"checks too much", func(m *Manifest) { m.Checks = &task.Verify{Audits: 1e6 + 1} }, "verify"},
		{"replicas", func(m *Manifest) { m.Replicas = task.MaxReplicas + 1 }, "replicas"},
		{"a rule", func(m *Manifest) { m.Admission = Listed + 1 }, "unknown rule"},
		{"a list that counts for nothing", func(m *Manifest) { m.Allowed = up }, "allow list"},
		{"an unsorted list", func(m *Manifest) { m.Admission, m.Allowed = Listed, down }, "not sorted"},
		{"one twice", func(m *Manifest) { m.Admission, m.Allowed = Listed, []task.PeerID{a, a} }, "twice"},
		{"revoked of none", func(m *Manifest) { m.InvitesFrom = epoch }, "invitations"},
		{"a version from nowhere", func(m *Manifest) { m.Version = 1 }, "origin"},
		{"a first with an origin", func(m *Manifest) { m.Origin = commons }, "origin"},
		{"the last version", func(m *Manifest) { m.Version, m.Origin = MaxManifestVersion+1, commons }, "version"},
		{"no time", func(m *Manifest) { m.Founded = time.Time{} }, "founding time"},
		{"no name", func(m *Manifest) { m.Name = "" }, "name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := manifestOf(t, Open, nil)
			tt.change(&m)
			b, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := OpenManifest(b); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
	m, _ := manifestOf(t, Open, nil)
	good, _ := m.Encode()
	for name, in := range map[string][]byte{
		"nothing":   nil,
		"cut short": good[:len(good)-1],
		"followed":  append(bytes.Clone(good), 0),
		"too big":   make([]byte, MaxManifestBytes+1),
		"an array":  {0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	} {
		if _, err := OpenManifest(in); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestLargestManifest: a full allow list is within the bounds, one more is not.
func TestLargestManifest(t *testing.T) {
	var allowed []task.PeerID
	for i := range MaxAllowed + 1 {
		key := make([]byte, ed25519.PublicKeySize)
		key[0], key[1] = byte(i>>8), byte(i)
		allowed = append(allowed, task.PeerIDOf(key))
	}
	m, key := manifestOf(t, Listed, allowed[:MaxAllowed])
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(b))
	if _, err := OpenManifest(b); err != nil {
		t.Error(err)
	}
	m.Allowed = allowed
	if err := m.Sign(key); err == nil {
		t.Error("signed a list beyond the bound")
	}
}

// TestSucceedsIsAnOrder: of two different versions that a founder signed, exactly
// one is followed, whatever came before; and nobody else's is.
func TestSucceedsIsAnOrder(t *testing.T) {
	first, key := manifestOf(t, Open, nil)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Manifest {
			m := first
			for range rapid.IntRange(0, 2).Draw(t, name) {
				m = m.Next()
				m.Placement = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, name+" policy")
				if err := m.Sign(key); err != nil {
					t.Fatal(err)
				}
			}
			return m
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		if reflect.DeepEqual(a, b) == (a.Succeeds(&b) != b.Succeeds(&a)) {
			t.Fatalf("%+v and %+v are not ordered", a, b)
		}
		if a.Succeeds(&b) && b.Succeeds(&c) && !a.Succeeds(&c) {
			t.Fatal("not transitive")
		}
	})
	other, thief := someone(1)
	for name, change := range map[string]func(*Manifest){
		"another founder": func(m *Manifest) { m.Founder = thief },
		"another name":    func(m *Manifest) { m.Name = "sunshine" },
		"another overlay": func(m *Manifest) { m.Origin = commons },
		"another date":    func(m *Manifest) { m.Founded = epoch.Add(time.Hour) },
	} {
		m := first.Next()
		change(&m)
		k := key
		if m.Founder == thief {
			k = other
		}
		if err := m.Sign(k); err != nil {
			t.Fatal(err)
		}
		if m.Succeeds(&first) {
			t.Errorf("%s: followed", name)
		}
	}
	next := first.Next()
	if none := (Manifest{}); next.Succeeds(&none) || none.Succeeds(&first) {
		t.Error("the zero manifest is one")
	}
}

func TestParseIDRefuses(t *testing.T) {
	m, _ := manifestOf(t, Open, nil)
	id := string(m.ID())
	for name, s := range map[string]string{
		"nothing": "", "a name": "commons", "a job": "bafyreib" + id[8:], "cut": id[:len(id)-1],
		"upper case": strings.ToUpper(id),
	} {
		if got, err := ParseID(s); err == nil {
			t.Errorf("%s: read as %s", name, got)
		}
	}
}

// FuzzOpenManifest checks that no bytes make OpenManifest panic, and that what it
// accepts encodes back to the same bytes.
func FuzzOpenManifest(f *testing.F) {
	_, peer := someone(1)
	m, _ := manifestOf(f, Listed, []task.PeerID{peer})
	open, _ := Named("commons")
	for _, m := range []Manifest{m, open} {
		b, err := m.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := OpenManifest(in)
		if err != nil {
			return
		}
		roundtrip.Same(t, in, m, func(m Manifest) ([]byte, error) { return m.Encode() }, OpenManifest)
		if m.ID() == "" {
			t.Error("accepted a manifest without an ID")
		}
	})
}

// TestTrusted: rules that name who may coordinate leave it to nobody else.
func TestTrusted(t *testing.T) {
	_, a := someone(1)
	_, b := someone(2)
	m, key := manifestOf(t, Open, nil)
	if !m.MayCoordinate(a) {
		t.Error("with no list somebody may not coordinate")
	}
	n := m.Next()
	n.Trusted = []task.PeerID{a}
	if err := n.Sign(key); err != nil {
		t.Fatal(err)
	}
	if !n.MayCoordinate(a) || n.MayCoordinate(b) {
		t.Errorf("with a list of the first: %v, %v", n.MayCoordinate(a), n.MayCoordinate(b))
	}
	for name, list := range map[string][]task.PeerID{
		"twice": {a, a}, "too many": slices.Repeat([]task.PeerID{a}, MaxTrusted+1),
	} {
		if n.Trusted = list; n.Sign(key) == nil {
			t.Errorf("%s: signed", name)
		}
	}
}
