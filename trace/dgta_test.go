package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A host's history is the same from one file, from a file per day, and from Unix seconds.
func TestDaysReadAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Date(2005, 2, 28, 0, 0, 0, 0, time.UTC)
		d := NewDays("h", ReadOptions{Epoch: first})
		var whole, unix strings.Builder
		for n := range rapid.IntRange(1, 4).Draw(t, "days") {
			var file strings.Builder
			at := 0
			for range rapid.IntRange(1, 5).Draw(t, "rows") {
				end := at + rapid.IntRange(1, 10_000).Draw(t, "seconds")
				cycles := rapid.SampledFrom([]int{-1, 0, 50, 100}).Draw(t, "cycles")
				fmt.Fprintf(&file, "%d %d %d\n", at, end, cycles)
				start := first.Unix() + int64(n)*86400
				fmt.Fprintf(&unix, "%d %d %d\n", start+int64(at), start+int64(end), cycles)
				at = end + rapid.SampledFrom([]int{0, 0, 7}).Draw(t, "gap")
			}
			if err := d.Read(fmt.Sprint("day", n), time.Time{}, strings.NewReader(file.String())); err != nil {
				t.Fatal(err)
			}
			whole.WriteString(file.String())
		}
		byDay, err := d.Trace()
		if err != nil {
			t.Fatal(err)
		}
		want := spells(byDay)
		for text, o := range map[string]ReadOptions{whole.String(): {Epoch: first}, unix.String(): {}} {
			got, err := Read("h", strings.NewReader(text), o)
			if err != nil || spells(got) != want {
				t.Fatalf("%q: got %v, %v, want %s", text, spells(got), err, want)
			}
		}
	})
}

// Files in Unix seconds keep their times, days can be missing, and the maximum of cycles is taken over
// all files of the host.
func TestDaysInSeveralFiles(t *testing.T) {
	d := NewDays("h", ReadOptions{})
	for i, f := range []struct {
		first time.Time
		text  string
	}{{time.Time{}, "0 5 100\n"}, {time.Unix(2*86400, 0), "0 5 50\n0 5 100\n"}, {time.Time{}, "0 5 25\n"},
		{time.Time{}, "1000000 1000001 50\n"}} {
		if err := d.Read(fmt.Sprint(i), f.first, strings.NewReader(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := d.Trace()
	if err != nil {
		t.Fatal(err)
	}
	want := "h: available 0-5 unobserved 5-172800 available*0.5 172800-172805 unobserved 172805-259200 " +
		"available 259200-259205 unobserved 259205-345600 available*0.25 345600-345605 unobserved 345605-1000000 " +
		"available*0.5 1000000-1000001"
	if got := spells(tr); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	late := NewDays("h", ReadOptions{Epoch: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)})
	if err := late.Read("f", time.Time{}, strings.NewReader("0 1 5\n0 1 5\n")); err == nil ||
		err.Error() != "f:2: the day that starts at 10000-01-01T00:00:00.000Z is outside the calendar" {
		t.Errorf("a day after the year 9999: %v", err)
	}
	if _, err := NewDays("h", ReadOptions{}).Trace(); err == nil {
		t.Error("no files are a trace")
	}
}

func FuzzDays(f *testing.F) {
	f.Add("start end cycles JEA\n0 1 110653 1\n1 2 -1 0\n", "0 5 0\n0 5 1\n")
	f.Add("1000000 1000001 5\n", "0 86400 5\n0 1 5\n")
	f.Fuzz(func(t *testing.T, one, two string) {
		d := NewDays("h", ReadOptions{})
		if d.Read("one", time.Time{}, strings.NewReader(one)) != nil ||
			d.Read("two", time.Unix(9*86400, 0), strings.NewReader(two)) != nil {
			return
		}
		tr, err := d.Trace()
		if err != nil {
			return
		}
		if len(tr.Hosts) != 1 || tr.Hosts[0].History.Until().UnixMilli() > maxTime {
			t.Fatalf("%d hosts until %v", len(tr.Hosts), tr.Hosts[0].History.Until())
		}
	})
}
