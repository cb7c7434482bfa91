package trace

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

const twoJobs = `; Computer: by hand
; Synthetic: two jobs
1 0 5 100 1 -1 -1 1 200 -1 1 7 1 -1 1 -1 -1 -1
2 60.5 0 300 4 250.25 1024 4 400 -1 1 8 1 -1 1 -1 1 10
3 90 0 -1 -1 -1 -1 -1 -1 -1 5 7 1 -1 1 -1 -1 -1
`

func TestSWF(t *testing.T) {
	l, err := ReadSWF("x.swf", strings.NewReader(twoJobs))
	if err != nil {
		t.Fatal(err)
	}
	want := &WorkloadStats{Name: "x", Synthetic: "two jobs", Jobs: 3, Users: 2, SpanS: 90, InterArrival: 45,
		RunMean: 200, RunMedian: 100, RunP90: 300, RunMax: 300, NotRun: 1, ProcsMean: 2.5, ProcsMax: 4, Serial: 0.5}
	if got := DescribeWorkload(l); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	var b bytes.Buffer
	if err := WriteSWF(&b, l); err != nil {
		t.Fatal(err)
	}
	if b.String() != twoJobs {
		t.Errorf("wrote\n%s", b.String())
	}
}

func TestSWFNamesThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"":             "x.swf: no jobs in it",
		"; c\n1 2 3\n": "x.swf:2: 3 fields; a job has 18",
		"1 0 5 100 1 x -1 1 200 -1 1 7 1 -1 1 -1 -1 -1\n":    `x.swf:1: field 6, "x", is not a number of a workload`,
		"1 -1 5 100 1 -1 -1 1 200 -1 1 7 1 -1 1 -1 -1 -1\n":  "x.swf:1: the job is submitted before the log begins",
		"1 0 5 100 1 -1 -1 1 200 -1 1 7 1 -1 1 -1 -1 -1 9\n": "x.swf:1: more than 18 fields",
	} {
		if _, err := ReadSWF("x.swf", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// The logs' own figures: median run times of 255 s and 88 s, 90 % within 4.2 h
// and 25 min.
func TestRealWorkloads(t *testing.T) {
	for _, c := range []struct {
		file        string
		jobs        int
		median, p90 float64
	}{{"LCG.swf.gz", 188041, 255, 4.2 * 3600}, {"NASA-iPSC-1993-3.1-cln.swf.gz", 18239, 88, 25 * 60}} {
		name, f := openReal(t, "workloads", c.file)
		l, err := ReadSWF(name, f)
		if err != nil {
			t.Fatal(err)
		}
		s := DescribeWorkload(l)
		if s.Jobs != c.jobs || s.RunMedian != c.median || s.RunP90 < 0.98*c.p90 || s.RunP90 > 1.02*c.p90 {
			t.Errorf("%s: %+v", c.file, s)
		}
	}
}

func FuzzReadSWF(f *testing.F) {
	f.Add(twoJobs)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ReadSWF("x.swf", strings.NewReader(text))
		if err != nil {
			return
		}
		DescribeWorkload(l)
		var b bytes.Buffer
		if err := WriteSWF(&b, l); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadSWF("x.swf", &b); err != nil || len(again.Jobs) != len(l.Jobs) {
			t.Fatalf("written and read again: %v", err)
		}
	})
}
