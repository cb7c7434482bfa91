package bootstrap

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/overlay"
	"godwit/task"

	"pgregory.net/rapid"
)

var (
	testNow = time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	testEnd = testNow.Add(90 * 24 * time.Hour)
)

func testKey(i int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(fmt.Appendf(nil, "%032d", i))
}

func idOf(i int) task.PeerID { return task.PeerIDOf(testKey(i).Public().(ed25519.PublicKey)) }

func placesOf(n int) (out []overlay.Place) {
	for i := range n {
		out = append(out, overlay.Place{Peer: idOf(1000 + i), Addr: fmt.Sprintf("/ip4/192.0.2.%d/tcp/%d", i%250, 4001+i)})
	}
	return out
}

// listOf returns a list of n peers, signed by keys.
func listOf(tb interface {
	Helper()
	Fatal(...any)
}, n int, keys ...int) List {
	tb.Helper()
	l, err := New(placesOf(n), testNow, testEnd)
	if err != nil {
		tb.Fatal(err)
	}
	for _, k := range keys {
		if err := l.Sign(testKey(k)); err != nil {
			tb.Fatal(err)
		}
	}
	return l
}

// A list is read as it was written, also from text records in whatever order, and holds for who
// trusts one of its keys, from its first day to its last.
func TestListHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.IntRange(0, 20), 0, MaxSignatures, rapid.ID).Draw(t, "keys")
		trust := rapid.SliceOfNDistinct(rapid.IntRange(0, 20), 0, 5, rapid.ID).Draw(t, "trusted")
		l := listOf(t, rapid.IntRange(1, 30).Draw(t, "peers"), keys...)
		got := roundtrip.Check(t, l, func(l List) ([]byte, error) { return l.Text(), nil }, Parse)
		records := append(l.Records(), "v=spf1 -all", "")
		records = rapid.Permutation(records).Draw(t, "records")
		text, err := fromRecords(records)
		if err != nil || !bytes.Equal(text, l.Text()) {
			t.Fatalf("the records say:\n%s%v, want:\n%s", text, err, l.Text())
		}
		var trusted []task.PeerID
		known := false
		for _, k := range trust {
			trusted = append(trusted, idOf(k))
			known = known || slices.Contains(keys, k)
		}
		now := testNow.Add(time.Duration(rapid.IntRange(-30, 100*24*60).Draw(t, "minutes")) * time.Minute)
		err = got.Check(trusted, now)
		var want error
		switch {
		case len(keys) == 0:
			want = ErrUnsigned
		case !known:
			want = ErrUnknownKey
		case !now.Before(testEnd):
			want = ErrExpired
		case now.Before(testNow.Add(-MaxSkew)):
			want = ErrFuture
		}
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Fatalf("checked: %v, want %v", err, want)
		}
	})
}

// Whatever is changed in a list is noticed, by whoever trusts its key.
func TestListChanged(t *testing.T) {
	l := listOf(t, 3, 1, 2)
	text := l.Text()
	trusted := []task.PeerID{idOf(1)}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		got, err := Parse(changed)
		if err == nil {
			err = got.Check(trusted, testNow)
		}
		// A signature of a key that is not trusted may be anybody's.
		if other := bytes.Index(text, []byte(wordSigned+string(idOf(2)))); err == nil &&
			(i < other || i > other+len(wordSigned)+60+100) {
			t.Fatalf("byte %d changed, and nothing is the matter:\n%s", i, changed)
		}
	}
	for n := range len(text) {
		if _, err := Parse(text[:n]); err == nil && !strings.HasSuffix(string(text[:n]), "\n") {
			t.Fatalf("cut after %d bytes, and nothing is the matter", n)
		}
	}
	l.Signatures[0].Signature = make([]byte, ed25519.SignatureSize)
	if err := l.Check([]task.PeerID{l.Signatures[0].Key}, testNow); !errors.Is(err, ErrDamaged) {
		t.Errorf("a signature of nothing: %v", err)
	}
}

// What is no list is refused, with what to look at.
func TestParseRefuses(t *testing.T) {
	good := string(listOfText(t))
	for name, c := range map[string]struct{ text, why string }{
		"nothing":          {"", "another version, or no list"},
		"a page":           {"<html>", "line 1"},
		"a later version":  {strings.Replace(good, "list 1", "list 2", 1), "another version"},
		"no peers":         {strings.Join(slices.DeleteFunc(strings.SplitAfter(good, "\n"), isPeer), ""), "0 peers"},
		"a peer twice":     {strings.Replace(good, "peer ", "peer "+placesOf(1)[0].String()+"\npeer ", 1), "each once"},
		"a peer of no key": {strings.Replace(good, "/p2p/", "/tcp/", 1), "line 4"},
		"no dates":         {strings.Replace(good, "expires ", "expired ", 1), `"expired" begins no line`},
		"a date of nobody": {strings.Replace(good, "2026", "20x6", 1), "line 2"},
		"for ever":         {strings.Replace(good, "expires 2027", "expires 2127", 1), "at most 366 days"},
		"other line ends":  {strings.ReplaceAll(good, "\n", "\r\n"), "line 1"},
		"a space more":     {strings.Replace(good, "issued ", "issued  ", 1), "line 2"},
		"another time":     {strings.Replace(good, "00Z", "00+00:00", 1), "written in another way"},
		"a signature":      {good + "signed " + string(idOf(9)) + " AAAA\n", "no signature"},
		"a book":           {strings.Repeat(good, 1000), "at most"},
	} {
		if _, err := Parse([]byte(c.text)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(nil, testNow, testEnd); err == nil {
		t.Error("a list of nobody")
	}
	if _, err := New(placesOf(MaxPeers+1), testNow, testEnd); err == nil {
		t.Error("a list of too many")
	}
	l := listOf(t, 1, 1, 2, 3, 4, 5, 6, 7, 8)
	if err := l.Sign(testKey(3)); err != nil { // again
		t.Error(err)
	}
	if err := l.Sign(testKey(9)); err == nil {
		t.Error("a list with too many signatures")
	}
	if full := listOf(t, MaxPeers, 1, 2, 3, 4, 5, 6, 7, 8); len(full.Text()) > MaxBytes {
		t.Errorf("the largest list has %d bytes", len(full.Text()))
	}
}

func isPeer(line string) bool { return strings.HasPrefix(line, wordPeer) }

func listOfText(tb testing.TB) []byte {
	tb.Helper()
	l := listOf(tb, 2, 1)
	return l.Text()
}

// FuzzParse checks that no text makes Parse panic, and that what it accepts is what a list is
// written as.
func FuzzParse(f *testing.F) {
	f.Add(listOfText(f))
	f.Add([]byte(head))
	f.Fuzz(func(t *testing.T, in []byte) {
		l, err := Parse(in)
		if err != nil {
			return
		}
		again := roundtrip.Check(t, l, func(l List) ([]byte, error) { return l.Text(), nil }, Parse)
		if !reflect.DeepEqual(again, l) || !bytes.Equal(l.Text(), in) {
			t.Errorf("%q is a list, and its text is another's", in)
		}
	})
}
