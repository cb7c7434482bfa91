package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"time"
)

// zipped is text as gzip writes it.
func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMalformedTables: what can be wrong in a table, with the line and the reason.
func TestMalformedTables(t *testing.T) {
	const head, ours = "host,start_s,end_s\n", "host,start_s,end_s,state,cpu,ghz\n"
	for name, c := range map[string]struct{ text, want string }{
		"a comment alone": {"# name: x\n", "a.csv:1: the file ends before a header line"},
		"no host": {"start_s,end_s\n",
			"a.csv:1: the header line needs host, start_s, and end_s or state"},
		"no start": {"host,end_s\n",
			"a.csv:1: the header line needs host, start_s, and end_s or state"},
		"no end and no state": {"\n\nhost,start_s,cpu\n",
			"a.csv:3: the header line needs host, start_s, and end_s or state"},
		"a column twice":      {"host,start_s,end_s,start_s\n", `a.csv:1: column "start_s" comes twice`},
		"a host by two names": {"host,device,start_s,end_s\n", `a.csv:1: column "device" comes twice`},
		"an empty column": {"host,,start_s,end_s\n",
			`a.csv:1: unknown column "": columns are host (or device, node), start_s, end_s, state, cpu, ghz`},
		"no row":           {head, "a.csv: no hosts in it"},
		"a field too many": {head + "a,0,1,2\n", "a.csv:2: 4 fields, the header has 3"},
		"a nameless host":  {head + ",0,1\n", "a.csv:2: no host is named"},
		"a name of 257 bytes": {head + strings.Repeat("n", 257) + ",0,1\n",
			"a.csv:2: a host's name of 257 bytes: at most 256"},
		"an open quote": {head + "\"a,0,1\n",
			"a.csv:2: parse error on line 1, column 7: extraneous or missing \" in quoted-field"},
		"a bare quote": {head + "a\"b,0,1\n",
			`a.csv:2: parse error on line 1, column 2: bare " in non-quoted-field`},
		"no number":    {head + "a,,1\n", `a.csv:2: "" is not a number of seconds`},
		"infinity":     {head + "a,0,Inf\n", "a.csv:2: Inf seconds are outside the calendar"},
		"not a number": {head + "a,NaN,1\n", "a.csv:2: NaN seconds are outside the calendar"},
		"a year of ten digits": {head + "a,0,99999999999999\n",
			"a.csv:2: 99999999999999 seconds are outside the calendar"},
		"hexadecimal": {head + "a,0,0x10\n", `a.csv:2: "0x10" is not a number of seconds`},
		"before the epoch": {head + "a,-1,1\n",
			"a.csv: a row at 1969-12-31T23:59:59.000Z is before the trace's start, 1970-01-01T00:00:00.000Z"},
		"after the end": {"# start: 2025-01-01T00:00:00Z\n# end: 2025-01-01T00:00:09Z\n" + head + "a,0,10\n",
			"a.csv: a row at 2025-01-01T00:00:10.000Z is after the trace's end, 2025-01-01T00:00:09.000Z"},
		"overlapping by a bit": {head + "a,0,1.5\na,1.499,2\n",
			"a.csv:3: host a: 1970-01-01T00:00:01.499Z is before 1970-01-01T00:00:01.500Z, the end of the row " +
				"before: sort the rows by time"},
		"changes out of order": {"device,start_s,state\na,5,2\na,4,1\n",
			"a.csv:3: host a: 1970-01-01T00:00:04.000Z is before 1970-01-01T00:00:05.000Z, the end of the row " +
				"before: sort the rows by time"},
		"a state of two digits": {"device,start_s,state\na,0,10\n",
			`a.csv:2: unknown state "10": it is one of available, user-present, cpu-busy, leaving, unavailable`},
		"state 3": {"device,start_s,state\na,0,3\n",
			`a.csv:2: unknown state "3": it is one of available, user-present, cpu-busy, leaving, unavailable`},
		"nobody looked, as state": {ours + "a,0,1,unobserved,,\n",
			`a.csv:2: unknown state "unobserved": it is one of available, user-present, cpu-busy, leaving, unavailable`},
		"more than one CPU": {ours + "a,0,1,available,1.5,\n",
			`a.csv:2: "1.5" is not a CPU share between 0 and 1`},
		"less than no CPU": {ours + "a,0,1,available,-0.1,\n",
			`a.csv:2: "-0.1" is not a CPU share between 0 and 1`},
		"a CPU share of NaN": {ours + "a,0,1,available,NaN,\n",
			`a.csv:2: "NaN" is not a CPU share between 0 and 1`},
		"no clock":            {ours + "a,0,1,available,1,0\n", `a.csv:2: "0" is not a clock rate in GHz`},
		"a clock of 1001 GHz": {ours + "a,0,1,available,1,1001\n", `a.csv:2: "1001" is not a clock rate in GHz`},
		"a clock in words":    {ours + "a,0,1,available,1,fast\n", `a.csv:2: "fast" is not a clock rate in GHz`},
		"a start of no date": {"# start: yesterday\n" + head,
			`a.csv:1: start: "yesterday" is not a date and time such as 2006-01-02T15:04:05Z`},
		"an end without a time": {"# end: 2025-01-01\n" + head,
			`a.csv:1: end: "2025-01-01" is not a date and time such as 2006-01-02T15:04:05Z`},
		"a window of one hour": {"# window: 10h\n" + head, `a.csv:1: window: time: invalid duration ""`},
		"a window over midnight": {"# window: 20h-30h\n" + head,
			"a.csv:1: window: window 20h0m0s-30h0m0s is not a part of one day"},
		"a sample of no unit":    {"# sample: 5\n" + head, `a.csv:1: sample: time: missing unit in duration "5"`},
		"a sample below nothing": {"# sample: -5s\n" + head, "a.csv:1: sample: is negative"},
		"a window of a whole life": {"# window: 1h-2h\n" + head + "a,0,400000000\n",
			"the trace spans 4630 days: a window is taken for at most 3660"},
	} {
		if _, err := Read("a.csv", strings.NewReader(c.text), ReadOptions{}); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
	}
}

// TestMalformedArchives: the same for the formats of the archives.
func TestMalformedArchives(t *testing.T) {
	const event = "0 0 7 1 n7 1 1000 1010 NULL\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"an event without a stop": {"a.tab", "0 0 7 1 n7 1 1000\n", "a.tab:1: 7 fields; an event has 9"},
		"an event of no start": {"a.tab", event + "0 0 7 1 n7 1 x 1010 NULL\n",
			`a.tab:2: "x" is not a number of seconds`},
		"an event of no stop": {"a.tab", "0 0 7 1 n7 1 1000 y NULL\n", `a.tab:1: "y" is not a number of seconds`},
		"an event that runs back": {"a.tab", "0 0 7 1 n7 1 1010 1000 NULL\n",
			"a.tab:1: host 7: the end, 1970-01-01T00:16:40.000Z, is before the start, 1970-01-01T00:16:50.000Z"},
		"events that overlap": {"a.tab", event + "1 0 7 1 n7 0 1009 1011 3\n",
			"a.tab:2: host 7: 1970-01-01T00:16:49.000Z is before 1970-01-01T00:16:50.000Z, the end of the row " +
				"before: sort the rows by time"},
		"a type of words": {"a.tab", "0 0 7 1 n7 up 1000 1010 NULL\n",
			`a.tab:1: event type "up" is neither 0, unavailable, nor 1, available`},
		"a long type": {"a.tab", "0 0 7 1 n7 " + strings.Repeat("1", 50) + " 1000 1010 NULL\n",
			`a.tab:1: event type "` + strings.Repeat("1", 40) + `..." is neither 0, unavailable, nor 1, available`},
		"comments alone":          {"a.tab", "# synthetic: x\n", "a.tab: no hosts in it"},
		"a host without a number": {"a.avt", "a\n", "a.avt:1: a host's line has a name and a number of sessions"},
		"sessions in words":       {"a.avt", "a two 0 1 2 3\n", `a.avt:1: "two" is not a number of sessions`},
		"fewer than no sessions":  {"a.avt", "a -1\n", `a.avt:1: "-1" is not a number of sessions`},
		"half a session":          {"a.avt", "a 1 0\n", "a.avt:1: host a: 1 times for 1 sessions, which have two each"},
		"2^62 sessions": {"a.avt", "a 4611686018427387904 0 1\n",
			"a.avt:1: host a: 2 times for 4611686018427387904 sessions, which have two each"},
		"2^63 sessions": {"a.avt", "a 9223372036854775808\n",
			`a.avt:1: "9223372036854775808" is not a number of sessions`},
		"sessions out of order": {"a.avt", "a 2 5 6 0 1\n",
			"a.avt:1: host a: 1970-01-01T00:00:00.000Z is before 1970-01-01T00:00:06.000Z, the end of the row " +
				"before: sort the rows by time"},
		"a session of no time": {"a.avt", "a 1 0 z\n", `a.avt:1: "z" is not a number of seconds`},
		"sessions after the end": {"a.avt", "# start: 1970-01-01T00:00:00Z\n# end: 1970-01-01T00:00:05Z\na 1 0 6\n",
			"a.avt: sessions outside the start and end that it gives"},
		"sessions before all": {"a.avt", "# start: 1970-01-01T00:00:05Z\na 1 0 6\n",
			"a.avt: sessions outside the start and end that it gives"},
		"a window of garbage": {"a.avt", "# window: x-y\na 1 0 6\n", `a.avt:1: window: time: invalid duration "x"`},
		// as Godfrey's
		"four numbers":          {"a", "0 2 5 6\n", "a:1: host 0: 2 times for 2 sessions, which have two each"},
		"four cycles in line 2": {"a", "0 1 5\n1 2 3 4\n", `a:2: "4" in the fourth column is neither 0, unavailable, nor 1, available: correct it, or remove the column`},
		"five fields": {"a", "0 1 5\n1 2 3 1 1\n",
			"a:2: 5 fields; a line is start, end and cycles, and may have the availability, 0 or 1"},
		"available without cycles": {"a", "0 1 5 1\n1 2 -1 1\n",
			"a:2: the fourth column is 1, available, and cycles are -1: write 0, or give the cycles"},
		"a day that begins late": {"a", "0 1 5\n5 9 5\n3 4 5\n",
			"a:3: second 3 is before 9, the end of the row before: sort the rows by time, or count each day from 0"},
		"a day of 25 hours": {"a", "0 90000 5\n0 1 5\n",
			"a:2: a day begins at second 0, and the day before ends at second 90000: end it at 86400 or earlier"},
		"a day after Unix seconds": {"a", "1000000 1000001 5\n0 1 5\n",
			"a:2: second 0 is before 1000001, the end of the row before: sort the rows by time, or count each day from 0"},
		"two header lines": {"a", "start end cycles\nstart end cycles\n", `a:2: "start" is not a number of seconds`},
		"eleven years of days": {"a", strings.Repeat("0 1 5\n", 3661),
			"a:3661: more than 3660 days of one host: divide the trace"},
		"cycles of NaN":        {"a", "0 1 NaN\n", `a:1: "NaN" is not a number of cycles, nor -1`},
		"a quadrillion cycles": {"a", "0 1 1e16\n", `a:1: "1e16" is not a number of cycles, nor -1`},
		"-2 cycles":            {"a", "0 1 -2\n", `a:1: "-2" is not a number of cycles, nor -1`},
		"seconds that go back": {"a", "1 0 5\n",
			"a:1: host a: the end, 1970-01-01T00:00:00.000Z, is before the start, 1970-01-01T00:00:01.000Z"},
		"a stop of no number": {"a", "0 5s 7\n", `a:1: "5s" is not a number of seconds`},
	} {
		if _, err := Read(c.file, strings.NewReader(c.text), ReadOptions{}); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
	}
	if _, err := Read("a", strings.NewReader("x"), ReadOptions{Format: "xml"}); err == nil ||
		err.Error() != `unknown format "xml": formats are [csv sessions changes fta avt dgta]` {
		t.Errorf("a format of no kind: got %v", err)
	}
}

// TestDamagedFiles: gzip that is none, that is cut off, and lines without an end,
// in each reader.
func TestDamagedFiles(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("host,start_s,end_s\n")
	for i := range 3000 {
		csv.WriteString("host" + strings.Repeat("x", i%7) + ",," + "\n")
	}
	whole := zipped(t, csv.String())
	readers := map[string]func(b []byte) error{
		"Read": func(b []byte) error {
			_,
				err := Read("x.csv", bytes.NewReader(b), ReadOptions{})
			return err
		},
		"ReadSnapshots": func(b []byte) error { return ReadSnapshots(&Trace{}, "x.csv", bytes.NewReader(b)) },
		"ReadResources": func(b []byte) error { _, err := ReadResources("x.csv", bytes.NewReader(b)); return err },
		"ReadSWF":       func(b []byte) error { _, err := ReadSWF("x.csv", bytes.NewReader(b)); return err },
	}
	for name, read := range readers {
		if err := read([]byte{0x1f, 0x8b, 9, 9}); err == nil || !strings.HasPrefix(err.Error(), "x.csv: ") {
			t.Errorf("%s of no gzip: got %v", name, err)
		}
	}
	for cut := 30; cut < len(whole); cut += len(whole) / 9 {
		err := readers["Read"](whole[:cut])
		if err == nil || !strings.HasSuffix(err.Error(),
			"the compressed file is cut off somewhere after this line: fetch it again") {
			t.Errorf("cut at %d of %d: got %v", cut, len(whole), err)
		}
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-6] ^= 1 // its checksum
	if err := readers["Read"](flipped); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a false checksum: got %v", err)
	}
	long := zipped(t, "host,start_s,end_s\n"+strings.Repeat("n", MaxLine+1))
	var at *LineError
	if err := readers["Read"](long); !errors.As(err, &at) || at.Line != 2 ||
		at.Err.Error() != "a line of more than 16777216 bytes" {
		t.Errorf("a long line: got %v", err)
	}
	if got := (&LineError{Line: 3, Err: errors.New("wrong")}).Error(); got != "line:3: wrong" {
		t.Errorf("without a file: %s", got)
	}
}

// TestSniff: a format is told by the name's ending, or by the first line that says
// something.
func TestSniff(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       Format
	}{
		{"x.avt", "", AVT}, {"x.csv.gz", "0 1 2", CSV}, {"event_trace.tab", "host,start_s,end_s", FTA},
		{"d/x.avt.gz", "", AVT},
		{"x", "\n# a comment\n\n0 1 110653\n", DGTA}, {"x", "# event_id component_id\n", FTA},
		{"x", "0 0 7 1 n 1 0 1 NULL", FTA},
		{"x", "device,start_s,state\n", CSV}, {"x", "a 2 0 10 15 20\n", AVT}, {"x", "a 1 0 10", AVT},
		{"x", "", ""}, {"x", "# only a comment\n", ""}, {"x", "a b\n0 1 2\n", ""}, {"x", "1 2 3 4 5\n", ""},
		{"x.zip", "PK\x03\x04", ""},
	} {
		got, err := Sniff(c.name, []byte(c.head))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s, %q: got %q, %v, want %q", c.name, c.head, got, err, c.want)
		}
	}
	for name, want := range map[string]string{"/data/UCB.avt.gz": "UCB", `C:\traces\a.csv`: "a", "noext": "noext",
		".hidden": ""} {
		if got := baseName(name); got != want {
			t.Errorf("%s: named %q, want %q", name, got, want)
		}
	}
}

// TestEpochs: a file's second 0 is 1970, or what its reader is told, or what the
// file itself says.
func TestEpochs(t *testing.T) {
	told := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		file, text string
		want       time.Time
	}{
		"a table": {"a.csv", "host,start_s,end_s\na,0,1\n", told},
		"a table that says": {"a.csv", "# start: 2021-05-05T00:00:00+02:00\nhost,start_s,end_s\na,0,1\n",
			time.Date(2021, 5, 4, 22, 0, 0, 0, time.UTC)},
		"Godfrey":            {"a.avt", "a 1 0 1\n", told},
		"Godfrey, ours":      {"a.avt", "# start: 1970-01-01T00:00:00Z\na 1 0 1\n", time.Unix(0, 0)},
		"Failure Traces":     {"a.tab", "0 0 7 1 n7 1 1000 1010 NULL\n", time.Unix(1000, 0)},
		"a Desktop Grid day": {"a", "0 1 5\n", told},
		"Desktop Grid times": {"a", "1000000 1000001 5\n", time.Unix(1000000, 0)},
	} {
		tr, err := Read(c.file, strings.NewReader(c.text), ReadOptions{Epoch: told})
		if err != nil || !tr.Start.Equal(c.want) {
			t.Errorf("%s: begins %v, %v, want %v", name, tr.Start, err, c.want)
		}
	}
}

// TestSnapshots: sampling times are read, written, and refused with their line.
func TestSnapshots(t *testing.T) {
	tr := &Trace{Start: epoch}
	const text = "snapshot_s\n0\n10\n20.5\n3600\n"
	if err := ReadSnapshots(tr, "s.csv", bytes.NewReader(zipped(t, text))); err != nil {
		t.Fatal(err)
	}
	if len(tr.Samples) != 4 || !tr.Samples[2].Equal(at(20.5)) || tr.Sample != 10500*time.Millisecond {
		t.Errorf("%v, each %v", tr.Samples, tr.Sample)
	}
	var b bytes.Buffer
	if err := WriteSnapshots(&b, tr); err != nil || b.String() != text {
		t.Errorf("wrote %q, %v", b.String(), err)
	}
	for text, want := range map[string]string{
		"":                     `s.csv:1: the header line is "", not snapshot_s`,
		"host,start_s,end_s\n": `s.csv:1: the header line is "host,start_s,end_s", not snapshot_s`,
		"snapshot_s\n":         "s.csv: fewer than two sampling times",
		"snapshot_s\n5\n":      "s.csv: fewer than two sampling times",
		"snapshot_s\n5\n5\n":   "s.csv:3: the sampling times do not increase from 0",
		"snapshot_s\n5\n4\n":   "s.csv:3: the sampling times do not increase from 0",
		"snapshot_s\n-1\n":     "s.csv:2: the sampling times do not increase from 0",
		"snapshot_s\n1\nx\n":   `s.csv:3: "x" is not a number of seconds`,
		// a span that overflows
		"snapshot_s\n0\n253402300799\n":   "s.csv:3: the sampling times do not increase from 0",
		"snapshot_s\n0\n99999999999999\n": "s.csv:3: 99999999999999 seconds are outside the calendar",
	} {
		if err := ReadSnapshots(&Trace{Start: epoch}, "s.csv", strings.NewReader(text)); err == nil ||
			err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestMalformedResources: the lines of Resourceinfo.dat.
func TestMalformedResources(t *testing.T) {
	for text, want := range map[string]string{
		"a 1\n":           "R:1: 2 fields; a resource has a name, a clock rate in MHz and cycles per second",
		"# c\n\na 0 5\n":  `R:3: "0" is not a clock rate in MHz`,
		"a 1e7 5\n":       `R:1: "1e7" is not a clock rate in MHz`,
		"a NaN 5\n":       `R:1: "NaN" is not a clock rate in MHz`,
		"a 1 0\n":         `R:1: "0" is not a number of cycles per second`,
		"a 1 1e16\n":      `R:1: "1e16" is not a number of cycles per second`,
		"a 1 many more\n": `R:1: "many" is not a number of cycles per second`,
	} {
		if _, err := ReadResources("R", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestWriteRefuses: what cannot be written.
func TestWriteRefuses(t *testing.T) {
	two := &Trace{Hosts: []Host{{History: &History{Host: "a"}}, {History: &History{Host: "b"}}}}
	if err := Write(&bytes.Buffer{}, two, DGTA); err == nil || err.Error() != "a DGTA file holds one host, not 2" {
		t.Errorf("got %v", err)
	}
	if err := Write(&bytes.Buffer{}, two, "xml"); err == nil ||
		err.Error() != `unknown format "xml": formats are [csv sessions changes fta avt dgta]` {
		t.Errorf("got %v", err)
	}
	for _, f := range Formats() {
		one := &Trace{Hosts: two.Hosts[:1]}
		full := &fullDisk{}
		h := one.Hosts[0].History
		for i := range 2000 { // more than a buffer
			_ = h.Append(at(float64(i)+float64(h.Len())/3), State(i%2*4), 1)
		}
		if err := Write(full, one, f); !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk: got %v", f, err)
		}
	}
}

var errFull = errors.New("the disk is full")

type fullDisk struct{}

func (*fullDisk) Write([]byte) (int, error) { return 0, errFull }
