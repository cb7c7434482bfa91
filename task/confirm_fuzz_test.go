package task

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// FuzzCondition: whatever is read as a condition is one that a job can have whose outputs it names,
// says of a result the same however its bytes come, and never more than of an empty one of no outputs.
func FuzzCondition(f *testing.F) {
	for _, s := range []string{"stdout contains FOUND", "stdout matches ^a+$", "*.png exists", "exit code 7",
		"a matches \\",
		"stdout matches (a|b)*c", "[ contains x", "stdout  contains x"} {
		f.Add(s, []byte("FOUND aaa"))
	}
	f.Fuzz(func(t *testing.T, s string, content []byte) {
		c, err := ParseCondition(s)
		if err != nil {
			return
		}
		name := c.output
		if name == "" {
			name = Stdout
		}
		r := Result{Outcome: Completed, Outputs: []Output{{Name: name, Size: int64(len(content))}}}
		whole, err := c.Meets(&r, func(*Output) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(content)), nil
		})
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		pieces, err := c.Meets(&r, func(*Output) (io.ReadCloser, error) {
			half := len(content) / 2
			return io.NopCloser(io.MultiReader(bytes.NewReader(content[:half]), bytes.NewReader(content[half:]))), nil
		})
		if err != nil || pieces != whole {
			t.Fatalf("%q: whole %v, in pieces %v (%v)", s, whole, pieces, err)
		}
		if c.how == verbContains && MatchOutput([]string{name}, name) && whole != bytes.Contains(content, c.text) {
			t.Fatalf("%q: %v", s, whole)
		}
	})
}

// A job's record may say of a condition only what every node reads alike; what is no condition is the
// submitter's own trouble, which runs those results again.
func TestConfirmBounds(t *testing.T) {
	job := func(confirm string) *Job {
		return &Job{Outputs: []string{Stdout, "out/*.txt"}, Verify: &Verify{Confirm: confirm}}
	}
	for _, s := range []string{"stdout contains x", "out/a.txt exists", "out/*.txt matches x", "exit code 3",
		"stdout matches (", "stdout will be known to a later version"} {
		if f := job(s).checkConfirm(); f != nil {
			t.Errorf("%q: %v", s, f)
		}
	}
	for s, want := range map[string]string{
		"stderr contains x": "not among the job's outputs", "a.txt exists": "not among the job's outputs",
		"stdout contains \x01": "cannot be seen", "stdout contains \xff": "not valid UTF-8",
		"stdout contains " + strings.Repeat("x", MaxConfirm): "the most is 512",
	} {
		if f := job(s).checkConfirm(); f == nil || !strings.Contains(f.msg, want) {
			t.Errorf("%q: %v", s, f)
		}
	}
	if f := (&Job{}).checkConfirm(); f != nil {
		t.Error(f)
	}
}

// Records of before have no condition, and are the same bytes as ever.
func TestVerifyWithoutConditionIsAsBefore(t *testing.T) {
	type before struct {
		Audits uint32 `cbor:"1,keyasint,omitempty"`
		Wrong  uint32 `cbor:"2,keyasint,omitempty"`
		Draw   []byte `cbor:"3,keyasint,omitempty"`
	}
	old, err := Encode(before{Audits: 5, Draw: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	now, err := Encode(Verify{Audits: 5, Draw: make([]byte, 32)})
	if err != nil || !bytes.Equal(old, now) {
		t.Errorf("%x, %v, before %x", now, err, old)
	}
	var back Verify
	if err := Decode(old, &back); err != nil || back.Audits != 5 || back.Confirm != "" {
		t.Errorf("%+v, %v", back, err)
	}
}
