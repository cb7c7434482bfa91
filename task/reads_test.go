package task

import (
	"slices"
	"testing"
	"time"
)

func refNames(refs []FileRef) []string {
	var out []string
	for _, r := range refs {
		out = append(out, r.Name)
	}
	return out
}

// jobReading returns a valid job of a job file whose inputs have their names as content.
func jobReading(t *testing.T, text string, names ...string) *Job {
	t.Helper()
	f, err := ParseFile("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]FileRef{}
	for _, n := range names {
		inputs[n] = FileRef{CID: RawCID([]byte(n)), Size: int64(len(n))}
	}
	j, err := f.Job(RawCID([]byte("module")), inputs, "lab", time.Unix(1e9, 0), make([]byte, NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestCommonInputs(t *testing.T) {
	const sweep = "module: a.wasm\nsweep: {n: [1, 2]}\n"
	for name, c := range map[string]struct {
		text          string
		common, first []string
	}{
		"of all and its own": {"files: [b, '{{.n}}', a]\n", []string{"a", "b"}, []string{"1", "a", "b"}},
		"standard input":     {"files: ['{{.n}}']\nstdin: a\n", []string{"a"}, []string{"1", "a"}},
		"its own stdin":      {"files: [a, a]\nstdin: '{{.n}}'\n", []string{"a"}, []string{"1", "a"}},
		"by the trial":       {"files: ['{{.trial}}']\n", nil, []string{"0"}},
		"braces":             {"files: ['{{\"{{\"}}']\n", []string{"{{"}, []string{"{{"}},
		"none":               {"", nil, nil},
	} {
		j := jobReading(t, sweep+c.text, "a", "b", "0", "1", "2", "{{")
		common, err := j.CommonInputs()
		if err != nil || !slices.Equal(refNames(common), c.common) {
			t.Errorf("%s: common are %q, %v; want %q", name, refNames(common), err, c.common)
		}
		inv, err := j.Expand(0)
		if err != nil || !slices.Equal(refNames(inv.Reads()), c.first) {
			t.Errorf("%s: the first task reads %q, %v; want %q", name, refNames(inv.Reads()), err, c.first)
		}
	}
}

func TestReadsBy(t *testing.T) {
	j := jobReading(t, "module: a.wasm\nsweep: {n: [1, 2], d: [x, y]}\nfiles: [b, '{{.n}}', '{{.d}}/', '{{.n}}']\n",
		"b", "1", "2", "x/1", "x/2", "x/3", "x/4", "x/5", "y/1")
	swept := j.SweptFiles()
	if want := []string{"{{.n}}", "{{.d}}/", "{{.n}}"}; !slices.Equal(swept, want) {
		t.Errorf("%q, want %q", swept, want)
	}
	for i, want := range map[uint64][]string{0: {"1", "x/1", "x/2", "x/3", "x/4"}, 3: {"2", "y/1"}, 4: nil} {
		if got := refNames(j.ReadsBy(swept[:2], i)); !slices.Equal(got, want) {
			t.Errorf("task %d: %q, want %q", i, got, want)
		}
	}
}
