package task

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
)

// A file is either refused at a place, or makes a job that signs, opens and
// expands.
func FuzzParseFile(f *testing.F) {
	f.Add([]byte(exampleFile))
	mistakes, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range strings.Split(string(mistakes), "parse\n")[1:] {
		src, _, _ := strings.Cut(part, "----\n")
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := ParseFile("job.yaml", src)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 && len(src) <= MaxFile || e.Msg == "" {
				t.Fatalf("error without a place: %#v", err)
			}
			return
		}
		for _, axis := range file.Unread() {
			if err := file.SetTable(axis, *aTable()); err != nil && !errors.As(err, new(*Error)) {
				t.Fatal(err)
			} else if err != nil {
				return // only the file could say so before
			}
		}
		names, err := file.InputNames()
		if err != nil {
			t.Fatal(err)
		}
		dirs, err := file.InputDirs()
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			names = append(names, dir+"a")
		}
		inputs := make(map[string]FileRef)
		for _, name := range append(names, file.InputPatterns()...) {
			inputs[name] = FileRef{CID: RawCID(nil)}
		}
		j, err := file.Job(RawCID(nil), inputs, "commons", time.Unix(0, 0), make([]byte, NonceSize))
		if err != nil {
			for _, only := range []string{"both a file and the directory", "bytes, the most is 512", "directories deep"} {
				if strings.Contains(err.Error(), only) {
					return // only the disk could say so before
				}
			}
			t.Fatal(err)
		}
		checkOpens(t, j)
	})
}

// checkOpens signs a valid job, opens it again and expands its ends.
func checkOpens(t *testing.T, j *Job) {
	r, err := SignJob(j, testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	if j, err = r.Open(); err != nil {
		t.Fatal(err)
	}
	empty := func(t *Table, _ uint64) ([]string, error) { return make([]string, len(t.Columns)), nil }
	for _, i := range []uint64{0, j.Sweep.Count() / 2, j.Sweep.Count() - 1} {
		if _, err := j.ExpandBy(i, empty); err != nil && !(errors.Is(err, ErrTable) && len(j.Sweep.Tables()) > 0) {
			t.Fatal(err)
		}
	}
}

// A record that is read is read back the same; its job, if signed by its key,
// is either refused or expands.
func FuzzDecodeRecord(f *testing.F) {
	r, err := SignJob(testJob(), testKey(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.Encode(), false)
	f.Add(r.Job, true)
	f.Add(groupedJob(), true)
	f.Fuzz(func(t *testing.T, b []byte, sign bool) {
		if sign { // a hostile submitter has a key too
			b = hostileRecord(b)
		}
		r, err := DecodeWhole(b)
		if err != nil {
			return
		}
		roundtrip.Same(t, b, r, func(r Record) ([]byte, error) { return r.Whole(), nil }, DecodeWhole)
		if _, err := DecodeRecord(b); (err == nil) != (len(r.Key) == 0) {
			t.Fatalf("a record with a key of %d bytes is read as a block: %v", len(r.Key), err)
		}
		if j, err := r.Open(); err == nil {
			checkOpens(t, j)
		}
	})
}

// groupedJob is a job whose tasks are grouped by a column, encoded.
func groupedJob() []byte {
	j := testJob()
	t := &Table{CID: RawCID(nil), Size: 9, Rows: 3, Columns: []Column{{"x", 1}}}
	j.Stages = []Stage{
		{Name: "a", Module: j.Module, Outputs: []string{"o"}, Sweep: Sweep{Axes: []Axis{{Name: "c", Table: t}}},
			Groups: []*Grouping{newGrouping([]string{"c.x"}, 2, []uint32{0, 1, 0})}},
		{Name: "b", Module: j.Module, Outputs: []string{"o"},
			Needs: []Need{{Stage: 0, Kind: NeedBy, By: []string{"c.x"}, Reads: []string{"o"}}}}}
	j.Args, j.Env, j.Files, j.Stdin, j.Outputs, j.Sweep, j.Inputs = nil, nil, nil, "", nil, Sweep{}, nil
	if err := j.Validate(); err != nil {
		panic(err)
	}
	b, err := Encode(j)
	if err != nil {
		panic(err)
	}
	return b
}

// hostileRecord signs any bytes as a job.
func hostileRecord(job []byte) []byte {
	key := testKey(1)
	r := Record{Job: job, PublicKey: key[32:], Signature: sign(key, jobDomain, job)}
	return r.Encode()
}

// A result that verifies has a digest and comes back as it was.
func FuzzDecodeResult(f *testing.F) {
	r := testResult()
	if err := r.Sign(testKey(1)); err != nil {
		f.Fatal(err)
	}
	b, err := Encode(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	agreed := testResult() // of a run that went on from a state on which replicas agree
	agreed.Trail = &Trail{Pass: 1, Fuel: 100, Began: agreedOn(f, agreed.Task)}
	if err := errors.Join(agreed.Sign(testKey(1)), agreed.Verify()); err != nil {
		f.Fatal(err)
	}
	if b, err = Encode(agreed); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	together := someResults(3)
	signTogether(f, testKey(1), together)
	for _, r := range together {
		if b, err = Encode(r); err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Result
		if Decode(b, &r) != nil {
			return
		}
		r.Digest()
		r.Mark()
		if alone, again := r.Verify(), new(Checked).Result(&r); (alone == nil) != (again == nil) {
			t.Fatalf("alone it is %v, and %v", alone, again)
		}
		r.Worker = ""
		if r.Sign(testKey(1)) != nil {
			return
		}
		if err := r.Verify(); err != nil {
			t.Fatal(err)
		}
		back := roundtrip.Check(t, r, func(r Result) ([]byte, error) { return Encode(&r) },
			func(b []byte) (r Result, err error) { return r, Decode(b, &r) })
		if back.Digest() != r.Digest() || back.Verify() != nil {
			t.Fatalf("%+v became %+v", r, back)
		}
	})
}
