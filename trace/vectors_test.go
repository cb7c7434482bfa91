package trace

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestEncodingVectors: the bytes of histories, worked out by hand from the table in
// encode.go. Times are seconds since 1970.
func TestEncodingVectors(t *testing.T) {
	type note struct {
		at    float64
		state State
		cpu   float64
	}
	for name, c := range map[string]struct {
		notes []note
		until float64
		want  string
	}{
		"nothing":            {nil, 0, "10 00"},
		"a minute of 1970":   {[]note{{0, Available, 1}}, 60, "12 01 00 08"},
		"no length":          {[]note{{0, Unavailable, 0}}, 0, "12 01 00 04"},
		"a second":           {[]note{{60, Available, 1}}, 61, "11 01 78 08"},      // 60 is 120 in zigzag
		"a millisecond":      {[]note{{0, UserPresent, 0}}, 0.001, "10 01 00 09"},  // 1*8 + 1
		"before 1970":        {[]note{{-60, CPUBusy, 0}}, 0, "12 01 01 0a"},        // -1 is 1 in zigzag
		"half the CPU":       {[]note{{0, Available, 0.5}}, 120, "12 01 00 16 64"}, // 2*8 + 6, 100 of 200
		"no CPU":             {[]note{{0, Available, 0}}, 60, "12 01 00 0e 00"},    //
		"leaving, then gone": {[]note{{0, Leaving, 0}, {60, Unavailable, 0}}, 180, "12 02 00 0b 14"},
		"nobody looked": {[]note{{0, Available, 1}, {60, Unobserved, 0}, {120, Available, 1}}, 180,
			"12 03 00 08 0d 08"},
		"a long spell":    {[]note{{0, Available, 1}}, 60 * 16, "12 01 00 80 01"},           // 16*8 in two bytes
		"a year of hours": {[]note{{0, Available, 1}}, 365 * 86400, "12 01 00 80 d2 80 02"}, // 525600*8
		"one odd end":     {[]note{{0, Available, 1}, {60, Leaving, 0}}, 61, "11 02 00 e0 03 0b"},
	} {
		h := &History{}
		sec := func(s float64) time.Time { return time.UnixMilli(int64(s * 1000)) }
		for _, n := range c.notes {
			var err error
			if n.state == Unobserved {
				err = h.Gap(sec(n.at))
			} else {
				err = h.Append(sec(n.at), n.state, n.cpu)
			}
			if err != nil {
				t.Fatal(name, err)
			}
		}
		h.Extend(sec(c.until))
		b := h.AppendSpells(nil, 0, h.Len())
		if got := fmt.Sprintf("% x", b); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		back, err := DecodeSpells(b, h.Len())
		if err != nil || !reflect.DeepEqual(back.changes, h.changes) && h.Len() > 0 {
			t.Errorf("%s: back as %+v, %v", name, back, err)
		}
		for n := range b { // cut anywhere
			if _, err := DecodeSpells(b[:n], 9); err == nil {
				t.Errorf("%s: cut at %d of %d bytes: no error", name, n, len(b))
			}
		}
	}
}

// TestDecodedHistoriesAreAppended: what decodes can be appended spell by spell, and
// encodes the same; so no sender can make a history that a recorder could not.
func TestDecodedHistoriesAreAppended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &History{}
		drawHistory(t, h)
		b := h.AppendSpells(nil, 0, h.Len())
		if len(b) > 2 { // a change of a byte, which may be refused
			b[rapid.IntRange(1, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		got, err := DecodeSpells(b, 100)
		if err != nil {
			return
		}
		again := &History{}
		for i := range got.Len() {
			s := got.Spell(i)
			if s.State == Unobserved && i == 0 {
				return // a recorder does not begin by not looking
			}
			if s.State == Unobserved {
				err = again.Gap(s.Start)
			} else {
				err = again.Append(s.Start, s.State, s.CPU)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		again.Extend(got.Until())
		if c := again.AppendSpells(nil, 0, again.Len()); !bytes.Equal(b, c) {
			t.Fatalf("% x, appended % x", b, c)
		}
	})
}

// shown has something of all that a trace can have.
func shown(t *testing.T) *Trace {
	t.Helper()
	begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	tr := &Trace{Name: "shown", Synthetic: "by\nhand", Start: begin, End: begin.Add(time.Hour),
		Sample: 10 * time.Second}
	add := func(name string, ghz float64, notes ...any) {
		h := &History{Host: name}
		for i := 0; i < len(notes); i += 2 {
			when := begin.Add(time.Duration(notes[i].(int)) * time.Second)
			var err error
			switch n := notes[i+1].(type) {
			case State:
				err = h.Append(when, n, 1)
			case float64:
				err = h.Append(when, Available, n)
			case string:
				err = h.Gap(when)
			case nil:
				h.Extend(when)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		tr.Hosts = append(tr.Hosts, Host{h, ghz})
	}
	add("a b", 2.5, 0, Available, 60, 0.25, 90, UserPresent, 120, "gap", 200, Leaving, 250, Available, 300, nil)
	add("#1", 0, 10, Unavailable, 20, CPUBusy, 30, nil)
	add(`c"d`, 0)
	return tr
}

// TestWritten: what each format writes, to the byte.
func TestWritten(t *testing.T) {
	const header = "# godwit trace\n# name: shown\n# synthetic: by hand\n# start: 2025-01-01T00:00:00Z\n" +
		"# end: 2025-01-01T01:00:00Z\n# sample: 10s\n"
	const zero = 1735689600            // of the trace, since 1970
	unix := func(text string) string { // seconds in braces are since the trace's start
		for _, s := range []int{0, 10, 20, 30, 60, 90, 120, 200, 250, 300} {
			text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", s), fmt.Sprint(zero+s))
		}
		return text
	}
	for f, want := range map[Format]string{
		CSV: header + "host,start_s,end_s,state,cpu,ghz\n" +
			"a b,0,60,available,,2.5\na b,60,90,available,0.25,\na b,90,120,user-present,,\n" +
			"a b,200,250,leaving,,\na b,250,300,available,,\n" +
			"\"#1\",10,20,unavailable,,\n\"#1\",20,30,cpu-busy,,\n\"c\"\"d\",,,,,\n",
		Sessions: header + "host,start_s,end_s\na b,0,90\na b,250,300\n\"#1\",,\n\"c\"\"d\",,\n",
		Changes: header + "device,start_s,state\na b,0,2\na b,90,1\na b,120,0\na b,200,1\na b,250,2\n" +
			"\"#1\",10,0\n\"#1\",20,1\n",
		FTA: unix("# synthetic: by hand\n" +
			"# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time " +
			"event_end_reason\n" +
			"0\t0\t1\t0\ta_b\t1\t{0}\t{90}\tNULL\n1\t0\t1\t0\ta_b\t0\t{90}\t{120}\tNULL\n" +
			"2\t0\t1\t0\ta_b\t0\t{200}\t{250}\tNULL\n3\t0\t1\t0\ta_b\t1\t{250}\t{300}\tNULL\n" +
			"0\t0\t2\t0\t_#1\t0\t{10}\t{30}\tNULL\n"),
		AVT: unix("# synthetic: by hand\n# start: 2025-01-01T00:00:00Z\n# end: 2025-01-01T01:00:00Z\n" +
			"a_b 2 {0} {90} {250} {300}\n_#1 0\nc\"d 0\n"),
	} {
		var b bytes.Buffer
		if err := Write(&b, shown(t), f); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s: got\n%s\nwant\n%s", f, b.String(), want)
		}
	}
	one := shown(t)
	one.Hosts = one.Hosts[:1]
	var b bytes.Buffer
	if err := Write(&b, one, DGTA); err != nil {
		t.Fatal(err)
	}
	want := unix("# synthetic: by hand\n{0}\t{60}\t2500000000\n{60}\t{90}\t625000000\n{90}\t{120}\t0\n" +
		"{200}\t{250}\t0\n{250}\t{300}\t2500000000\n")
	if b.String() != want {
		t.Errorf("dgta: got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestSeconds: decimal seconds and milliseconds are the same thing, both ways.
func TestSeconds(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-5": -5000, "1.5": 1500, "0.0004": 0, "0.0005": 1,
		"1e3": 1_000_000, "+7": 7000, "253402300799": 253402300799000} {
		if got, err := parseSeconds(text); err != nil || got != want {
			t.Errorf("%s: %d ms, %v, want %d", text, got, err, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(-maxTime, maxTime).Draw(t, "ms")
		if got, err := parseSeconds(formatSeconds(ms)); err != nil || got != ms {
			t.Fatalf("%d ms are %s, which is %d ms, %v", ms, formatSeconds(ms), got, err)
		}
	})
}

// TestWorkloadsSurvive: a workload of any numbers is read as it was written.
func TestWorkloadsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Just(-1.0), rapid.Float64Range(0, 1e9))
		whole := rapid.OneOf(rapid.Just(int64(-1)), rapid.Int64Range(0, 1e11))
		f, n := func(s string) float64 { return number.Draw(t, s) }, func(s string) int64 { return whole.Draw(t, s) }
		l := &Workload{Name: "x", Synthetic: rapid.SampledFrom([]string{"", "drawn"}).Draw(t, "label")}
		for range rapid.IntRange(0, 2).Draw(t, "comments") {
			l.Comments = append(l.Comments, "Computer: "+rapid.StringMatching("[a-z]{1,9}").Draw(t, "comment"))
		}
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			l.Jobs = append(l.Jobs, Job{n("number"), rapid.Float64Range(0, 1e9).Draw(t, "submit"), f("wait"), f("run"),
				n("procs"), f("cpu"), f("memory"),
				n("asked"), f("asked time"), f("asked memory"), n("status"), n("user"), n("group"), n("executable"),
				n("queue"), n("partition"), n("before"), f("think")})
		}
		var b bytes.Buffer
		if err := WriteSWF(&b, l); err != nil {
			t.Fatal(err)
		}
		back, err := ReadSWF("x.swf", &b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, l) {
			t.Fatalf("got  %+v\nwant %+v", back, l)
		}
	})
}

// TestEachJobStops: at the first error of whoever takes comments or jobs, with its
// line; comments may be left out.
func TestEachJobStops(t *testing.T) {
	enough := fmt.Errorf("enough")
	taken := 0
	err := EachJob("x", strings.NewReader(twoJobs), nil, func(Job) error {
		if taken++; taken == 2 {
			return enough
		}
		return nil
	})
	if err == nil || err.Error() != "x:4: enough" || taken != 2 {
		t.Errorf("got %v after %d jobs", err, taken)
	}
	err = EachJob("x", strings.NewReader(twoJobs), func(string) error { return enough }, nil)
	if err == nil || err.Error() != "x:1: enough" {
		t.Errorf("got %v", err)
	}
	many := strings.Repeat("; c\n", maxComments+1)
	if _, err := ReadSWF("x", strings.NewReader(many)); err == nil ||
		err.Error() != "x:10001: more than 10000 comments" {
		t.Errorf("%d comments: got %v", maxComments+1, err)
	}
}
