package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// read reads a file given as text.
func read(t *testing.T, name, text string) *Trace {
	t.Helper()
	tr, err := Read(name, strings.NewReader(text), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// spells writes a trace's histories as "a: available 0-10 unobserved 10-20; ...",
// in seconds since its start.
func spells(tr *Trace) string {
	var all []string
	for _, h := range tr.Hosts {
		s := h.History.Host + ":"
		for i := range h.History.Len() {
			x := h.History.Spell(i)
			s += " " + x.State.String()
			if x.State == Available && x.CPU != 1 {
				s += "*" + formatSeconds(int64(x.CPU*1000))
			}
			s += " " + formatSeconds(x.Start.UnixMilli()-tr.Start.UnixMilli()) + "-" +
				formatSeconds(x.End.UnixMilli()-tr.Start.UnixMilli())
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func TestReadFormats(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"sessions", "s.csv", "host,start_s,end_s\na,0,10\nb,5,20\na,15,20\n",
			"a: available 0-10 unavailable 10-15 available 15-20; b: unavailable 0-5 available 5-20"},
		{"two states of phones", "p.csv", "device,start_s,end_s\n1,3,10\n1,12,13.5\n2,0,20\n",
			"1: unavailable 0-3 available 3-10 unavailable 10-12 available 12-13.5 unavailable 13.5-20; 2: available 0-20"},
		{"three states of phones", "p3.csv", "device,start_s,state\n1,0,0\n1,3,2\n1,10,1\n2,0,2\n2,20,0\n",
			"1: unavailable 0-3 available 3-10 user-present 10-20; 2: available 0-20 unavailable 20-20"},
		{"ours", "o.csv", "# synthetic: by hand\n# start: 2025-01-01T00:00:00Z\n# end: " +
			"2025-01-02T00:00:00Z\nhost,start_s,end_s,state,cpu,ghz\n" +
			"\"a,b\",10,20,available,,2.5\n\"a,b\",20,30,cpu-busy,,\n\"a,b\",40,50,available,0.5,\nb,,,,,\n",
			"a,b: available 10-20 cpu-busy 20-30 unobserved 30-40 available*0.5 40-50; b:"},
		{"Failure Trace Archive", "event_trace.tab",
			"# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time " +
				"event_end_reason\n" +
				"0\t0\t7\t1\tn7\t1\t1000\t1010\tNULL\n1\t0\t7\t1\tn7\t0\t1010\t1012\t3\n" +
				"2\t0\t7\t1\tn7\t1\t1020\t1030\tNULL\n0\t1\t7\t1\tn7\t0\t1000\t1000\tNULL\n",
			"7: available 0-10 unavailable 10-12 unobserved 12-20 available 20-30; 7.1: unavailable 0-0"},
		{"Godfrey", "x.avt", "# a comment\na 2 0 10 15 20\nb 0\n",
			"a: available 0-10 unavailable 10-15 available 15-20; b: unavailable 0-20"},
		{"Desktop Grid Trace Archive", "host1", "0 1 110653\n1 2 110653\n2 4 -1\n4 5 0\n6 7 55326.5\n",
			"host1: available 0-2 unavailable 2-4 cpu-busy 4-5 unobserved 5-6 available*0.5 6-7"},
		{"Desktop Grid Trace Archive, named columns and availability", "host1",
			"start\tend\tcycles\tJEA\n0 1 100 1\n1 2 50 1\n2 3 -1 0\n3 4 0 0\n4 5 100 0\n",
			"host1: available 0-1 available*0.5 1-2 unavailable 2-3 cpu-busy 3-5"},
		{"Desktop Grid Trace Archive, two days", "host1", "0 9 100\n9 20 -1\n0 5 100\n7 86400 100\n0 2 -1\n",
			"host1: available 0-9 unavailable 9-20 unobserved 20-86400 available 86400-86405 unobserved 86405-86407 " +
				"available 86407-172800 unavailable 172800-172802"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := spells(read(t, c.file, c.text)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var zipped bytes.Buffer
			z := gzip.NewWriter(&zipped)
			z.Write([]byte(c.text))
			z.Close()
			if got := spells(read(t, c.file+".gz", zipped.String())); got != c.want {
				t.Errorf("zipped: %s", got)
			}
		})
	}
}

func TestReadNamesThePlace(t *testing.T) {
	for _, c := range []struct {
		file, text, want string
	}{
		{"a.csv", "", "a.csv:1: the file ends before a header line"},
		{"a.csv", "host,up_s\n",
			`a.csv:1: unknown column "up_s": columns are host (or device, node), start_s, end_s, state, cpu, ghz`},
		{"a.csv", "host,start_s,end_s\na,0,1\na,2\n", "a.csv:3: 2 fields, the header has 3"},
		{"a.csv", "host,start_s,end_s\na,0,1\na,2,x\n", `a.csv:3: "x" is not a number of seconds`},
		{"a.csv", "host,start_s,end_s\na,0,5\na,2,6\n",
			"a.csv:3: host a: 1970-01-01T00:00:02.000Z is before 1970-01-01T00:00:05.000Z, the end of the row before: sort " +
				"the rows by time"},
		{"a.csv", "host,start_s,end_s\na,9,5\n",
			"a.csv:2: host a: the end, 1970-01-01T00:00:05.000Z, is before the start, 1970-01-01T00:00:09.000Z"},
		{"a.csv", "host,start_s,state\na,0,7\n",
			`a.csv:2: unknown state "7": it is one of available, user-present, cpu-busy, leaving, unavailable`},
		{"a.csv", "host,start_s,end_s\na,1e300,1e301\n", "a.csv:2: 1e300 seconds are outside the calendar"},
		{"a.csv", "# window: 17h-10h\nhost,start_s,end_s\n",
			"a.csv:1: window: window 17h0m0s-10h0m0s is not a part of one day"},
		{"a.tab", "0 0 1\n", "a.tab:1: 3 fields; an event has 9"},
		{"a.tab", "0 0 1 0 n 4 0 1 NULL\n", `a.tab:1: event type "4" is neither 0, unavailable, nor 1, available`},
		{"a.avt", "a 2 0 1\n", "a.avt:1: host a: 2 times for 2 sessions, which have two each"},
		{"a.avt", "a 1 0 1\na 1 2 3\n", "a.avt:2: host a has two lines"},
		{"a", "0 1 5\n1 2 -3\n", `a:2: "-3" is not a number of cycles, nor -1`},
		{"a", "what is this\n", `a:1: "what" is not a number of seconds`},
		{"a", "what?\n", "a: of no format known here: name one of [csv sessions changes fta avt dgta]"},
	} {
		_, err := Read(c.file, strings.NewReader(c.text), ReadOptions{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
		var line *LineError
		if strings.Contains(c.want, "1:") && !errors.As(err, &line) {
			t.Errorf("%q: no LineError", c.text)
		}
	}
}

// drawTrace draws a trace of a few hosts, with gaps.
func drawTrace(t *rapid.T) *Trace {
	tr := &Trace{Name: "drawn", Synthetic: "by rapid", Start: epoch, End: at(5000), Sample: time.Minute}
	for i := range rapid.IntRange(1, 4).Draw(t, "hosts") {
		h := Host{History: &History{Host: rapid.StringMatching(`[a-z]{1,3}[,"# ]?[a-z]`).Draw(t, "name") +
			string(rune('a'+i))}}
		if rapid.Bool().Draw(t, "has speed") {
			h.GHz = float64(rapid.IntRange(1, 50).Draw(t, "speed")) / 10
		}
		drawHistory(t, h.History)
		tr.Hosts = append(tr.Hosts, h)
	}
	return tr
}

func drawHistory(t *rapid.T, h *History) {
	unit := rapid.SampledFrom([]int64{1, 1000, 60000}).Draw(t, "unit")
	ms := epoch.UnixMilli()
	for range rapid.IntRange(0, 8).Draw(t, "spells") {
		ms += unit * rapid.Int64Range(0, 4).Draw(t, "length")
		when := time.UnixMilli(ms)
		if rapid.IntRange(0, 4).Draw(t, "gap") == 0 {
			_ = h.Gap(when)
		} else {
			_ = h.Append(when, State(rapid.IntRange(0, 4).Draw(t, "state")),
				float64(rapid.IntRange(0, cpuUnit).Draw(t, "cpu"))/cpuUnit)
		}
	}
	h.Extend(time.UnixMilli(ms + unit*rapid.Int64Range(0, 4).Draw(t, "last")))
}

// Our CSV keeps everything but an unobserved end and rows of no length.
func TestCSVKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTrace(t)
		var first, second bytes.Buffer
		if err := Write(&first, tr, CSV); err != nil {
			t.Fatal(err)
		}
		back, err := Read("x.csv", bytes.NewReader(first.Bytes()), ReadOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, first.String())
		}
		if back.Name != tr.Name || back.Synthetic != tr.Synthetic || !back.Start.Equal(tr.Start) ||
			!back.End.Equal(tr.End) || back.Sample != tr.Sample {
			t.Fatalf("header: %+v", back)
		}
		if err := Write(&second, back, CSV); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Fatalf("wrote\n%s\nthen\n%s", first.String(), second.String())
		}
		for i, h := range tr.Hosts {
			if back.Hosts[i].GHz != h.GHz {
				t.Fatalf("host %d: %v GHz, wrote %v", i, back.Hosts[i].GHz, h.GHz)
			}
		}
	})
}

// What every format keeps: when hosts were available.
func TestFormatsKeepSessions(t *testing.T) {
	tr := read(t, "s.csv", "# synthetic: by hand\nhost,start_s,end_s\na,0,10\nb,5,20\na,15,20\nc,,\n")
	for _, f := range []Format{CSV, Sessions, Changes, FTA, AVT} {
		var b bytes.Buffer
		if err := Write(&b, tr, f); err != nil {
			t.Fatal(err)
		}
		back, err := Read("x", &b, ReadOptions{Format: f})
		if err != nil {
			t.Fatal(f, err)
		}
		for i, h := range tr.Hosts {
			var got, want []int64
			for s := range sessions(h.History) {
				want = append(want, s[0], s[1])
			}
			for s := range sessions(back.Hosts[i].History) {
				got = append(got, s[0], s[1])
			}
			if formatAll(got) != formatAll(want) {
				t.Errorf("%s: host %s has sessions %v, want %v", f, h.History.Host, got, want)
			}
		}
		if back.Synthetic != "by hand" {
			t.Errorf("%s: the label is %q", f, back.Synthetic)
		}
	}
	one := &Trace{Hosts: tr.Hosts[:1]}
	var b bytes.Buffer
	if err := Write(&b, one, DGTA); err != nil {
		t.Fatal(err)
	}
	if got := spells(read(t, "a", b.String())); got != "a: available 0-10 unavailable 10-15 available 15-20" {
		t.Errorf("dgta: %s", got)
	}
}

// A list of sessions leaves out nights as it does outages: the window tells them
// apart.
func TestFormatsKeepTheWindow(t *testing.T) {
	tr := synth(t, "sdsc", SynthConfig{Hosts: 20, Days: 3, Seed: 1})
	for _, f := range []Format{CSV, Sessions, Changes, AVT} {
		var b bytes.Buffer
		if err := Write(&b, tr, f); err != nil {
			t.Fatal(err)
		}
		back, err := Read("x", &b, ReadOptions{Format: f})
		if err != nil {
			t.Fatal(f, err)
		}
		if got, want := spells(back), spells(tr); got != want {
			t.Errorf("%s:\n got %s\nwant %s", f, got, want)
		}
	}
}

func formatAll(ms []int64) string {
	var s []string
	for _, x := range ms {
		s = append(s, formatSeconds(x))
	}
	return strings.Join(s, " ")
}

func TestAssume(t *testing.T) {
	tr := read(t, "o.csv", "host,start_s,end_s,state\na,0,10,available\na,20,30,available\n")
	if got := spells(tr.Assume(Unavailable)); got != "a: available 0-10 unavailable 10-20 available 20-30" {
		t.Error(got)
	}
	if got := spells(tr.Assume(Available)); got != "a: available 0-30" {
		t.Error(got)
	}
	if got := spells(tr); got != "a: available 0-10 unobserved 10-20 available 20-30" {
		t.Error("the trace itself changed:", got)
	}
}

// real opens a file of the records that lie beside the project, or skips.
func openReal(t testing.TB, path ...string) (string, *os.File) {
	t.Helper()
	name := filepath.Join(append([]string{"..", "..", "shared", "data"}, path...)...)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no records in ../shared/data, seen from the project's root")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return name, f
}

func readReal(t testing.TB, path ...string) *Trace {
	t.Helper()
	name, f := openReal(t, path...)
	tr, err := Read(name, f, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// The records' own description: 4,225 relays, 68,548 sessions, 150 days; 200
// phones, 535,963 s; both phone files say when the phones were available.
func TestReadRealRecords(t *testing.T) {
	relays := readReal(t, "relays", "sessions.csv.gz")
	count := 0
	for _, h := range relays.Hosts {
		for range sessions(h.History) {
			count++
		}
	}
	if len(relays.Hosts) != 4225 || count != 68548 || relays.Days() != 150 {
		t.Errorf("%d relays, %d sessions, %d days", len(relays.Hosts), count, relays.Days())
	}
	name, f := openReal(t, "relays", "snapshots.csv.gz")
	if err := ReadSnapshots(relays, name, f); err != nil {
		t.Fatal(err)
	}
	if relays.Sample < time.Hour || relays.Sample > 75*time.Minute || len(relays.Samples) != 2599 {
		t.Errorf("%d snapshots, one every %v", len(relays.Samples), relays.Sample)
	}
	two, three := readReal(t, "phones", "availability_2state.csv.gz"),
		readReal(t, "phones", "availability_3state_batt50.csv.gz")
	if len(two.Hosts) != 198 || len(three.Hosts) != 200 { // two were never plugged in
		t.Errorf("%d and %d phones", len(two.Hosts), len(three.Hosts))
	}
	if end := two.End.Unix(); end != 535963 {
		t.Errorf("phones to %d s", end)
	}
	up := func(tr *Trace) (sum time.Duration) {
		for _, h := range tr.Hosts {
			for s := range sessions(h.History) {
				sum += time.Duration(s[1]-s[0]) * time.Millisecond
			}
		}
		return sum
	}
	// The second file ends 45 minutes earlier.
	if a, b := up(two).Hours(), up(three).Hours(); b > a || b < 0.99*a {
		t.Errorf("phones available for %.0f and %.0f hours", a, b)
	}
}

// TestCutOff: a compressed file that ends too early is told as such, not as a
// bad row.
func TestCutOff(t *testing.T) {
	var text, zipped bytes.Buffer
	text.WriteString("host,start_s,end_s\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "h%d,%d,%d\n", i, i*i%977, i*i%977+100+i)
	}
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Read("a.csv.gz", bytes.NewReader(zipped.Bytes()[:zipped.Len()/2]), ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("got %v", err)
	}
}
