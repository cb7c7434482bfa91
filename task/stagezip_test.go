package task

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// zipped has a stage whose axes a and b go together: 9 points, a task of clean for each, and 3 groups of three.
const zipped = `name: zipped
stages:
  make:
    module: a.wasm
    args: ["{{.a}}", "{{.b}}", "{{.c}}"]
    sweep: {a: [p, q, r], c: [0, 1, 2], b: [x, y, z]}
    zip: [a, b]
    outputs: [out]
  clean:
    module: a.wasm
    args: ["{{.a}}{{.b}}"]
    each: make
    files: ["{{.make}}/out"]
    outputs: [out]
  fit:
    module: a.wasm
    args: ["{{.c}}"]
    by: c
    of: clean
    files: ["{{.clean}}/*/out"]
`

// Groups of a stage whose axes go together are of the points that it has, and no others.
func TestZipInStages(t *testing.T) {
	j := stagedJob(t, zipped)
	if j.Tasks() != 21 {
		t.Fatalf("%d tasks, want 9, 9 and 3", j.Tasks())
	}
	for group := range uint64(3) {
		fit, err := j.Expand(18 + group)
		if err != nil {
			t.Fatal(err)
		}
		var pairs []string
		for _, members := range j.Needed(18 + group) {
			for i := range members.All() {
				made, err := j.Expand(i - 9)
				if err != nil || made.Args[2] != fit.Args[0] {
					t.Errorf("the group of %v has task %d, of %v: %v", fit.Args, i, made.Args, err)
				}
				clean, err := j.Expand(i)
				if err != nil {
					t.Fatal(err)
				}
				pairs = append(pairs, clean.Args[0])
				for r := range j.Readers(i) {
					if r.From != 18+group || r.To != 19+group {
						t.Errorf("task %d is read by %d to %d, want %d", i, r.From, r.To, 18+group)
					}
				}
			}
		}
		if !slices.Equal(pairs, []string{"px", "qy", "rz"}) {
			t.Errorf("group %d reads %q", group, pairs)
		}
	}
}

// What stages cannot have of zip and of data is refused, with its place and a way out.
func TestRefusedAxesOfStages(t *testing.T) {
	const twice = `in that of stage clean "p" comes twice`
	for name, c := range map[string]struct{ old, with, want, hint string }{
		"a group by a value that comes twice": {"a: [p, q, r]", "a: [p, q, p]", twice, "after: clean"},
		"another number of values": {"b: [x, y, z]", "b: [x, y]", "axis a has 3 values, and axis b has 2",
			"value of each"},
		"a zip beside stages":   {"stages:\n", "zip: [a, b]\nstages:\n", "zip beside stages", "into a stage"},
		"a zip without a sweep": {"    each: make\n", "    each: make\n    zip: [a, b]\n", `no axis "a"`, "zip"},
	} {
		by := "by: c"
		if c.want == twice {
			by = "by: a"
		}
		_, err := ParseFile("job.yaml", []byte(strings.Replace(strings.Replace(zipped, "by: c", by, 1), c.old, c.with, 1)))
		e, is := err.(*Error)
		if !is || !strings.Contains(e.Msg, c.want) || !strings.Contains(e.Hint, c.hint) || e.Line == 0 {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

// Patterns and directories are inputs of a stage as of any job, and each stage has its own alone.
func TestInputsOfStages(t *testing.T) {
	src := strings.Replace(zipped, `files: ["{{.make}}/out"]`, `files: ["{{.make}}/out", "in/*.txt", data/]`, 1)
	f, err := ParseFile("job.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetModules(map[string]CID{"make": RawCID(nil), "clean": RawCID(nil), "fit": RawCID(nil)}); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]FileRef{}
	for _, name := range []string{"in/a.txt", "in/b.txt", "data/c"} {
		inputs[name] = FileRef{CID: RawCID([]byte(name)), Size: 1}
	}
	at, nonce := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), make([]byte, NonceSize)
	j, err := f.Job("", inputs, "commons", at, nonce)
	if err != nil {
		t.Fatal(err)
	}
	for index, want := range map[uint64]int{0: 0, 9: 3, 18: 0} {
		if inv, err := j.Expand(index); err != nil || len(inv.Files) != want {
			t.Errorf("task %d reads %v, %v", index, inv.Files, err)
		}
	}
	if common, err := j.CommonInputs(); err != nil || len(common) > 0 || len(j.SweptFiles()) > 0 {
		t.Errorf("all tasks read %v, %v, and some %v", common, err, j.SweptFiles())
	}
	if f.Stages[1].Files[0] != "in/*.txt" {
		t.Errorf("the job file was changed: %q", f.Stages[1].Files)
	}
	delete(inputs, "in/a.txt")
	delete(inputs, "in/b.txt")
	if _, err := f.Job("", inputs, "commons", at, nonce); err == nil || !strings.Contains(err.Error(), "matches no file") {
		t.Errorf("a pattern that matches nothing: %v", err)
	}
}

// What runs again, and what a task reads beside the common inputs, is told of jobs without stages alone: there
// is none of it where stages are.
func TestStagesAreNotSwept(t *testing.T) {
	j := stagedJob(t, zipped)
	if files := j.TableFiles(); len(files) > 0 {
		t.Errorf("tables %v", files)
	}
	for i := range j.Tasks() {
		if reads := j.ReadsBy(j.SweptFiles(), i); len(reads) > 0 {
			t.Errorf("task %d reads %v", i, reads)
		}
	}
	if _, err := j.Expand(j.Tasks()); err == nil {
		t.Error("a task after the last is expanded")
	}
}
