package table

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestPrint(t *testing.T) {
	var b bytes.Buffer
	Print(&b, "PEER FREE-SLOTS STATE", [][]string{{"a", "12", "paused by its owner"}, {"longer", "", "-"}})
	want := "PEER    FREE-SLOTS  STATE\n" +
		"a       12          paused by its owner\n" +
		"longer              -\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Tail("abc", 2), "bc"}, {Tail("abc", 3), "abc"}, {Tail("abc", 9), "abc"}, {Tail("", 1), ""},
		{ShortPeer("12D3KooWabcdefgh"), "abcdefgh"}, {ShortJob("bafyabcdefghij"), "abcdefghij"},
		{Because(""), ""}, {Because("the disk is full"), ": the disk is full"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestRough: no more digits than a person reads, and no unit that the rounding filled up.
func TestRough(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 499 * time.Microsecond: "0s", 500 * time.Microsecond: "1ms", 37 * time.Millisecond: "37ms",
		999_600 * time.Microsecond: "1s", 1240 * time.Millisecond: "1.2s", 59_940 * time.Millisecond: "59.9s",
		59_970 * time.Millisecond: "1m0s", 61_600 * time.Millisecond: "1m2s", 26 * time.Hour: "26h0m0s",
	} {
		if got := Rough(d); got != want {
			t.Errorf("%d ns is %q, want %q", int64(d), got, want)
		}
		if got := Seconds(d.Seconds()); got != want {
			t.Errorf("%v s is %q, want %q", d.Seconds(), got, want)
		}
	}
}

func TestJSONIsALine(t *testing.T) {
	var b bytes.Buffer
	for _, v := range []any{map[string]string{"name": "two\nlines"}, []int{1, 2}} {
		if err := JSON(&b, v); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Split(b.String(), "\n"); len(got) != 3 || got[0] != `{"name":"two\nlines"}` || got[1] != "[1,2]" {
		t.Errorf("got %q", got)
	}
}
