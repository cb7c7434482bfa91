package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/internal/signed"
	"godwit/task"
)

var (
	testNow = time.Date(2026, 11, 27, 2, 0, 0, 0, time.UTC)
	testEnd = testNow.Add(90 * 24 * time.Hour)
)

func testKey(i int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(fmt.Appendf(nil, "%032d", i))
}

func idOf(i int) task.PeerID { return task.PeerIDOf(testKey(i).Public().(ed25519.PublicKey)) }

func of(tb testing.TB, version string, keys ...int) Release {
	tb.Helper()
	r, err := New(version, "https://example.org/godwit", sha256.Sum256([]byte("sums")), testNow, testEnd)
	if err != nil {
		tb.Fatal(err)
	}
	for _, k := range keys {
		if err := r.Sign(testKey(k)); err != nil {
			tb.Fatal(err)
		}
	}
	return r
}

// TestReleaseHolds: for who trusts one of its keys, from its first day to its last.
func TestReleaseHolds(t *testing.T) {
	for name, c := range map[string]struct {
		keys, trust []int
		at          time.Duration
		want        error
	}{
		"signed":           {[]int{1}, []int{1}, 0, nil},
		"by one of two":    {[]int{1, 2}, []int{3, 2}, time.Hour, nil},
		"a clock behind":   {[]int{1}, []int{1}, -signed.MaxSkew, nil},
		"a clock wrong":    {[]int{1}, []int{1}, -time.Hour, ErrFuture},
		"the last moment":  {[]int{1}, []int{1}, 90*24*time.Hour - 1, nil},
		"a mirror asleep":  {[]int{1}, []int{1}, 90 * 24 * time.Hour, ErrExpired},
		"by nobody":        {nil, []int{1}, 0, ErrUnsigned},
		"by the mirror":    {[]int{2}, []int{1}, 0, ErrUnknownKey},
		"nobody is to say": {[]int{1}, nil, 0, ErrUnknownKey},
	} {
		r := of(t, "0.2.0", c.keys...)
		got := roundtrip.Check(t, r, func(r Release) ([]byte, error) { return r.Text(), nil }, Parse)
		var trusted []task.PeerID
		for _, k := range c.trust {
			trusted = append(trusted, idOf(k))
		}
		if err := got.Check(trusted, testNow.Add(c.at)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if r := of(t, "0.2.0", 1, 2, 3, 4, 5, 6, 7, 8); len(r.Text()) > MaxBytes-MaxPage {
		t.Errorf("one with all signatures has %d bytes", len(r.Text()))
	}
}

// TestMirrorsLie: whatever a mirror changes in a release is noticed, and what it replays is too.
func TestMirrorsLie(t *testing.T) {
	r := of(t, "0.2.0", 1)
	text, trusted := r.Text(), []task.PeerID{idOf(1)}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		got, err := Parse(changed)
		if err == nil {
			err = got.Check(trusted, testNow)
		}
		if err == nil {
			t.Fatalf("byte %d changed, and nothing is the matter:\n%s", i, changed)
		}
	}
	// The signature of one word under another.
	other := of(t, "0.3.0", 1)
	other.Signatures = r.Signatures
	if err := other.Check(trusted, testNow); !errors.Is(err, ErrDamaged) {
		t.Errorf("a signature of another release: %v", err)
	}
	newer := of(t, "0.2.1", 1)
	newer.Issued = newer.Issued.Add(time.Second)
	if err := r.Since(&newer); !errors.Is(err, ErrOlder) {
		t.Errorf("a release of before: %v", err)
	}
	if err := newer.Since(&r); err != nil {
		t.Error(err)
	}
	if err := r.Since(&r); err != nil {
		t.Error(err)
	}
}

// TestParseRefuses what is no release, and what would mislead who reads it.
func TestParseRefuses(t *testing.T) {
	r := of(t, "0.2.0", 1)
	good := string(r.Text())
	change := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for name, text := range map[string]string{
		"nothing": "", "a page": "<html>", "a later kind": change("release 1", "release 2"),
		"a book": strings.Repeat(good, 100), "other line ends": strings.ReplaceAll(good, "\n", "\r\n"),
		"no end": good[:len(good)-1], "a line more": good + "note do this\n", "the order": change("page ", "paper "),
		"for ever": change("expires 2027", "expires 2127"), "backwards": change("expires 2027", "expires 2026"),
		"another time": change("00Z", "00+00:00"), "no version": change("0.2.0", "newest"),
		"two numbers": change("0.2.0", "0.2"),
		"build marks": change("0.2.0", "0.2.0+cells"), "a letter": change("0.2.0", "v0.2.0"),
		"escape sequences": change("example.org", "example.org/\x1b[2J"), "no https": change("https:", "http:"),
		"a script":    change("https://example.org/godwit", "javascript:alert(1)"),
		"a password":  change("https://", "https://a:b@"),
		"a long page": change("godwit\n", strings.Repeat("x", MaxPage)+"\n"), "short sums": change("sums ", "sums 0"),
		"no signature": good + "signed " + string(idOf(9)) + " AAAA\n",
	} {
		if text == good {
			t.Fatalf("%s: nothing was changed", name)
		}
		if got, err := Parse([]byte(text)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestNewer: nobody is led back, and a build that was not given out has no place in the order.
func TestNewer(t *testing.T) {
	r := of(t, "0.10.0-rc.2")
	for have, want := range map[string][2]bool{
		"0.9.0": {true, true}, "v0.9.0": {true, true}, "0.10.0-rc.1": {true, true}, "0.10.0-rc.2": {false, true},
		"0.10.0-rc.10": {false, true}, "0.10.0": {false, true}, "1.0.0": {false, true},
		"v0.0.0-20261127014500-1b1fe82f0123": {false, false}, "v0.0.0-20261127014500-1b1fe82f0123+dirty": {false, false},
		"0.0.0-20261127014500.g1b1fe82f0123": {false, false},
		"development":                        {false, false}, "1b1fe82f0123": {false, false}, "1b1fe82f0123+dirty": {false, false},
		"":  {false, false},
		"1": {false, false}, "123456789012": {false, false},
	} {
		if newer, known := r.Newer(have); newer != want[0] || known != want[1] {
			t.Errorf("%q: newer %v, known %v, want %v", have, newer, known, want)
		}
	}
}

// FuzzParse checks that no text makes Parse panic, and that what it accepts is what a release is written as.
func FuzzParse(f *testing.F) {
	r := of(f, "0.2.0", 1)
	f.Add(r.Text())
	f.Add([]byte(head))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Parse(in)
		if err != nil {
			return
		}
		again := roundtrip.Check(t, got, func(r Release) ([]byte, error) { return r.Text(), nil }, Parse)
		if !reflect.DeepEqual(again, got) || !bytes.Equal(got.Text(), in) {
			t.Errorf("%q is a release, and its text is another's", in)
		}
	})
}
