package task

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// inlineOf opens what results have inline, a byte at a time.
func inlineOf(o *Output) (io.ReadCloser, error) {
	return io.NopCloser(iotest.OneByteReader(bytes.NewReader(o.Inline))), nil
}

func TestConditions(t *testing.T) {
	result := Result{Outcome: Completed, Outputs: []Output{
		{Name: "a/hit.txt", Size: 5, Inline: []byte("x = 7")}, {Name: "empty"},
		{Name: Stdout, Size: 6, Inline: []byte("FOUND\n")},
	}}
	failed := Result{Outcome: ExitFailure, ExitCode: 3}
	for _, tt := range []struct {
		condition string
		of        *Result
		want      bool
	}{
		{"stdout contains FOUND", &result, true}, {"stdout contains FOUND IT", &result, false},
		{"stdout contains  FOUND", &result, false}, {"stderr contains FOUND", &result, false},
		{"stdout matches ^F.*D$", &result, false}, {"stdout matches (?m)^F.*D$", &result, true},
		{"a/hit.txt matches x = [0-9]+", &result, true}, {"a/* contains = 7", &result, true},
		{"* contains FOUND", &result, false}, // a pattern is of files
		{"a/hit.txt exists", &result, true}, {"a/miss.txt exists", &result, false}, {"a/hit.* exists", &result, true},
		{"empty contains x", &result, false}, {"empty matches ^$", &result, true},
		{"exit code 0", &result, true}, {"exit code 3", &result, false},
		{"exit code 3", &failed, true}, {"exit code 0", &failed, false}, {"stdout contains x", &failed, false},
	} {
		c, err := ParseCondition(tt.condition)
		if err != nil {
			t.Errorf("%s: %v", tt.condition, err)
			continue
		}
		if met, err := c.Meets(tt.of, inlineOf); met != tt.want || err != nil {
			t.Errorf("%s: %v, %v", tt.condition, met, err)
		}
	}
	for _, s := range []string{"", "FOUND", "stdout", "stdout contains", "stdout contains ", "stdout is x", "exit code",
		"exit code -1", "exit code x", "stdout matches (", "stdout matches a{2000}", "../x contains y", "x exists now",
		"stdout contains " + strings.Repeat("x", MaxConfirm)} {
		if c, err := ParseCondition(s); err == nil {
			t.Errorf("%q is %+v", s, c)
		}
	}
}

// A text is found wherever it lies, however its bytes come.
func TestContainsAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		abc := rapid.SliceOfN(rapid.SampledFrom([]byte("ab")), 0, 40)
		in, text := abc.Draw(t, "in"), abc.Filter(func(b []byte) bool { return len(b) > 0 }).Draw(t, "text")
		pad := rapid.IntRange(0, 20).Draw(t, "pad")
		in = append(bytes.Repeat([]byte("b"), readBytes-pad), in...)
		for _, r := range []io.Reader{bytes.NewReader(in), iotest.HalfReader(bytes.NewReader(in)),
			iotest.DataErrReader(bytes.NewReader(in))} {
			if got, err := contains(r, text); err != nil || got != bytes.Contains(in, text) {
				t.Fatalf("%v, %v", got, err)
			}
		}
	})
}

// What cannot be read to its end is no result that does not matter.
func TestConditionOfWhatCannotBeRead(t *testing.T) {
	r := Result{Outcome: Completed, Outputs: []Output{{Name: Stdout, Size: 9}}}
	gone := errors.New("gone")
	broken := func(*Output) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(gone))), nil
	}
	absent := func(*Output) (io.ReadCloser, error) { return nil, gone }
	for _, s := range []string{"stdout contains x", "stdout matches x"} {
		c, err := ParseCondition(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(*Output) (io.ReadCloser, error){broken, absent} {
			if met, err := c.Meets(&r, open); met || !errors.Is(err, gone) {
				t.Errorf("%s: %v, %v", s, met, err)
			}
		}
	}
}

func TestConfirmInAJobFile(t *testing.T) {
	for src, want := range map[string]Verify{
		"confirm: {when: stdout contains FOUND}\n":              {Confirm: "stdout contains FOUND"},
		"verify: 5%\nconfirm:\n  when: \"stdout matches ^x\"\n": {Audits: 50_000, Confirm: "stdout matches ^x"},
		"confirm: {when: exit code 2}\nverify: off\n":           {Confirm: "exit code 2"},
		"confirm: {when: exit code 2}\nverify: 1e-3\n":          {Wrong: 1_000_000, Confirm: "exit code 2"},
		"outputs: [\"*.png\"]\nconfirm: {when: a.png exists}\n": {Confirm: "a.png exists"},
	} {
		f, err := ParseFile("job.yaml", []byte("module: a.wasm\n"+src))
		if err != nil || f.Verify.Confirm != want.Confirm || f.Verify.Audits != want.Audits || f.Verify.Wrong != want.Wrong {
			t.Errorf("%s: %+v, %v", src, f, err)
		}
	}
	for src, want := range map[string]string{
		"confirm: often\n":                    "job.yaml:2:10: confirm is",
		"confirm: {}\n":                       "job.yaml:2:10: confirm does not say when",
		"confirm: {if: x}\n":                  "job.yaml:2:11: unknown key \"if\"",
		"confirm: {when: stdout has x}\n":     "job.yaml:2:17: confirm: \"stdout has x\" is not understood",
		"confirm: {when: stdout matches (}\n": "job.yaml:2:17: confirm: \"(\" is no regular expression",
		"confirm: {when: a.png exists}\n":     "job.yaml:2:17: \"a.png\" is not among the job's outputs",
	} {
		_, err := ParseFile("job.yaml", []byte("module: a.wasm\n"+src))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", src, err)
		}
	}
}
