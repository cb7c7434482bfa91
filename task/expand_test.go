package task

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawTemplates draws templates of file names over a sweep, all different, of which no
// two come to the same name.
func drawTemplates(t *rapid.T, s *Sweep) []string {
	var out []string
	for i := range rapid.IntRange(0, 4).Draw(t, "templates") {
		name := fmt.Sprintf("t%d", i)
		for _, n := range namesOf(s.references()) {
			if rapid.IntRange(0, 2).Draw(t, "mentioned") == 0 {
				name += "_{{." + n + "}}"
			}
		}
		out = append(out, name)
	}
	return out
}

// TestInputsAreWhatTasksNeed: the names that are listed without going through the points
// are those that going through all of them finds, and each task finds its own there.
func TestInputsAreWhatTasksNeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := DefaultFile("a.wasm", nil)
		f.Sweep = drawSweep(t)
		different := drawTemplates(t, &f.Sweep)
		f.Files = slices.Repeat(different, rapid.IntRange(1, 2).Draw(t, "times"))
		if len(f.Files) > 0 && rapid.Bool().Draw(t, "stdin") {
			f.Stdin = f.Files[0]
		}
		listed, err := f.InputNames()
		if err != nil {
			t.Fatal(err)
		}
		inputs := map[string]FileRef{}
		for i, name := range listed {
			inputs[name] = FileRef{CID: RawCID([]byte(name)), Size: int64(i)}
		}
		j, err := f.Job(RawCID(nil), inputs, "commons", time.Unix(0, 0), make([]byte, NonceSize))
		if err != nil {
			t.Fatal(err)
		}
		needed := map[string]bool{}
		for i := range j.Sweep.Count() {
			inv, err := j.Expand(i)
			if err != nil {
				t.Fatal(err)
			}
			if len(inv.Files) != len(different) {
				t.Fatalf("task %d has %d files of %d templates", i, len(inv.Files), len(different))
			}
			for _, ref := range inv.Files {
				if ref.CID != RawCID([]byte(ref.Name)) {
					t.Fatalf("task %d: the content of %s is another file's", i, ref.Name)
				}
				needed[ref.Name] = true
			}
			if (inv.Stdin != nil) != (f.Stdin != "") || inv.Stdin != nil && !slices.Contains(inv.Files, *inv.Stdin) {
				t.Fatalf("task %d: standard input %v of the template %q", i, inv.Stdin, f.Stdin)
			}
		}
		if got := slices.Sorted(maps.Keys(needed)); !slices.Equal(got, listed) {
			t.Fatalf("tasks need %v, listed are %v", got, listed)
		}
	})
}

// TestInputNamesAreBounded: names count over all templates, before any is made.
func TestInputNamesAreBounded(t *testing.T) {
	const half = MaxInputs / 2
	for _, c := range []struct {
		files string
		tasks int
		want  string // how many names, or what the error begins with
	}{
		{"['a{{.x}}', 'b{{.x}}']", half, "10000"},
		{"['a{{.x}}', 'b{{.x}}']", half + 1,
			`job.yaml:2:20: "b{{.x}}" and the templates before it name more than 10000 files`},
		{"['a{{.x}}', 'a{{.x}}', c]", half, `job.yaml:2:31: "c" and`}, // equal names count as well
		{"['{{.x}}{{.trial}}']", half, `job.yaml:2:9: "{{.x}}{{.trial}}" and`},
		{"['../{{.x}}']", 1, `job.yaml:2:9: file name "../1" leaves the sandbox`},
		{"['{{.y}}']", 1, `job.yaml:2:9: there is no axis "y"`},
	} {
		src := fmt.Sprintf("module: a.wasm\nfiles: %s\nsweep: {x: {from: 1, to: %d}, repeat: 3}\n", c.files, c.tasks)
		f, err := ParseFile("job.yaml", []byte(src))
		got := ""
		if err == nil {
			var names []string
			names, err = f.InputNames()
			got = fmt.Sprint(len(names))
		}
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s over %d points: %s, want %s", c.files, c.tasks, got, c.want)
		}
	}
}

// TestExpandRefuses: what a job says that Validate did not see.
func TestExpandRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Job)
		index uint64
		want  string
	}{
		"no such task":    {func(*Job) {}, 1 << 40, "expanding task 1099511627776: the job has "},
		"no task at all":  {func(j *Job) { j.Sweep.Axes = []Axis{{Name: "x"}} }, 0, "the job has 0 tasks"},
		"an argument":     {func(j *Job) { j.Args = []string{"{{.nobody}}"} }, 0, "nobody"},
		"a variable":      {func(j *Job) { j.Env = []EnvVar{{"A", "{{.nobody}}"}} }, 0, "nobody"},
		"a file's name":   {func(j *Job) { j.Files = []string{"{{.nobody}}"} }, 0, "nobody"},
		"a missing file":  {func(j *Job) { j.Files = []string{"far"} }, 0, `file "far" is not among the job's inputs`},
		"a missing stdin": {func(j *Job) { j.Stdin = "far" }, 0, `file "far" is not among the job's inputs`},
	} {
		j := testJob()
		c.spoil(j)
		if inv, err := j.Expand(c.index); err == nil || !strings.Contains(err.Error(), c.want) || inv.Args != nil {
			t.Errorf("%s: %+v, %v, want %q", name, inv, err, c.want)
		}
	}
}

// TestCheckpointIsReadBack: what a checkpoint is written as means the same in a file.
func TestCheckpointIsReadBack(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, c Checkpoint) {
		f, err := ParseFile("job.yaml", []byte("module: a.wasm\ncheckpoint: "+c.String()+"\n"))
		if err != nil || f.Checkpoint != c {
			t.Fatalf("%+v is written as %q and read as %+v, %v", c, c.String(), f.Checkpoint, err)
		}
	}
	check(t, Checkpoint{})
	check(t, Checkpoint{Off: true})
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Int64Range(1, int64(MaxDuration/time.Second)).Draw(t, "seconds")
		check(t, Checkpoint{Every: time.Duration(s) * time.Second})
	})
}

// TestDigestText: a digest is 64 hexadecimal digits, and nothing else is one.
func TestDigestText(t *testing.T) {
	r := testResult()
	want := r.Digest()
	text, err := want.MarshalText()
	if err != nil || len(text) != 64 {
		t.Fatalf("%q, %v", text, err)
	}
	var got Digest
	if err := got.UnmarshalText(text); err != nil || got != want {
		t.Errorf("%s is read back as %s, %v", want, got, err)
	}
	for _, bad := range [][]byte{nil, text[1:], append(bytes.Clone(text), '0'), bytes.Repeat([]byte("g"), 64)} {
		if err := new(Digest).UnmarshalText(bad); err == nil {
			t.Errorf("%q passes for a digest", bad)
		}
	}
}

// TestRecordOfNobody: a record without a whole key names no submitter, and none opens.
func TestRecordOfNobody(t *testing.T) {
	good, err := SignJob(testJob(), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range [][]byte{nil, {}, good.PublicKey[1:], append(bytes.Clone(good.PublicKey), 0)} {
		r := good
		r.PublicKey = key
		if id := r.Submitter(); id != "" {
			t.Errorf("a key of %d bytes is %s", len(key), id)
		}
		if _, err := r.Open(); err == nil {
			t.Errorf("a record with a key of %d bytes opens", len(key))
		}
		if _, err := DecodeRecord(r.Encode()); err == nil {
			t.Errorf("a record with a key of %d bytes is read", len(key))
		}
	}
}
