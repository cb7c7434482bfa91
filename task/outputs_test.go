package task

import (
	"strings"
	"testing"
)

func TestCheckOutputs(t *testing.T) {
	j := &Job{Outputs: []string{"stdout", "*.png", "data/*", ".profile", "x/.hidden*"}}
	for name, c := range map[string]struct {
		outputs []Output
		ok      bool
	}{
		"none":            {nil, true},
		"as asked for":    {[]Output{{Name: "a.png"}, {Name: "data/b"}, {Name: "stdout", Size: 9}}, true},
		"not asked for":   {[]Output{{Name: "Makefile"}}, false},
		"a stream":        {[]Output{{Name: "stderr"}}, false},
		"up":              {[]Output{{Name: "data/.."}}, false},
		"absolute":        {[]Output{{Name: "/a.png"}}, false},
		"unsorted":        {[]Output{{Name: "b.png"}, {Name: "a.png"}}, false},
		"twice":           {[]Output{{Name: "a.png"}, {Name: "a.png"}}, false},
		"too much text":   {[]Output{{Name: "stdout", Size: MaxTaskOutput + 1}}, false},
		"much text":       {[]Output{{Name: "stdout", Size: MaxTaskOutput}}, true},
		"all files":       {[]Output{{Name: "a.png", Size: MaxTaskFiles - 1}, {Name: "b.png", Size: 1}}, true},
		"too many bytes":  {[]Output{{Name: "a.png", Size: MaxTaskFiles - 1}, {Name: "b.png", Size: 2}}, false},
		"negative bytes":  {[]Output{{Name: "a.png", Size: -1}}, false},
		"both at most":    {[]Output{{Name: "a.png", Size: MaxTaskFiles}, {Name: "stdout", Size: MaxTaskOutput}}, true},
		"too many":        {make([]Output, MaxOutputs+1), false},
		"deeper":          {[]Output{{Name: "data/b/c"}}, false},
		"an escape":       {[]Output{{Name: "a\x1b.png"}}, false},
		"one of the host": {[]Output{{Name: ".git/hooks/post-commit"}}, false},
	} {
		if err := j.CheckOutputs(0, c.outputs); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := j.CheckOutputs(0, []Output{{Name: "\x1b[2J"}}); err == nil || strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("got %v", err)
	}
}

// A task that failed has its standard error, whether its job asks for it or not; one that did not has what
// is asked for alone. Nothing else comes with a failure.
func TestCheckResult(t *testing.T) {
	j := &Job{Outputs: []string{"stdout"}}
	words, other := []Output{{Name: "stderr", Size: 5}}, []Output{{Name: "core"}}
	for name, c := range map[string]struct {
		r  Result
		ok bool
	}{
		"failed":         {Result{Outcome: ExitFailure, ExitCode: 1, Outputs: words}, true},
		"trapped":        {Result{Outcome: Trapped, Outputs: words}, true},
		"completed":      {Result{Outcome: Completed, Outputs: words}, false},
		"another output": {Result{Outcome: Trapped, Outputs: other}, false},
	} {
		if err := j.CheckResult(&c.r); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := j.Outputs; len(got) != 1 {
		t.Errorf("the job asks for %v now", got)
	}
}

// Workers of before kept no standard error that was not asked for: that they did not is no fault of theirs.
// What both kept has to be the same.
func TestLastWordsAreNoDifference(t *testing.T) {
	said := func(text string, o Outcome) *Result {
		r := &Result{Outcome: o, Outputs: []Output{{Name: "stdout", CID: RawCID(nil)}}}
		if text != "" {
			r.Outputs = append([]Output{{Name: "stderr", CID: RawCID([]byte(text)), Size: int64(len(text))}}, r.Outputs...)
		}
		return r
	}
	for name, c := range map[string]struct {
		a, b   string
		of     Outcome
		differ bool
	}{
		"one of before": {"", "x", Trapped, false},
		"audited there": {"x", "", Trapped, false},
		"others":        {"x", "y", Trapped, true},
		"completed":     {"", "x", Completed, true},
	} {
		if got := said(c.a, c.of).Difference(said(c.b, c.of), nil); (got != "") != c.differ {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestHiddenOutput(t *testing.T) {
	for _, c := range []struct {
		patterns, name string
		hidden         bool
	}{
		{"*", "plain", false},
		{"*", ".bashrc", true},
		{".bashrc", ".bashrc", false},
		{".*", ".bashrc", false},
		{"?bashrc", ".bashrc", true},
		{"[.]bashrc", ".bashrc", true},
		{"*/*/*", ".git/hooks/x", true},
		{".git/hooks/*", ".git/hooks/x", false},
		{"a/*", "a/.b", true},
		{"a/.*", "a/.b", false},
		{"a/b.c", "a/b.c", false},
		{"* .b*", ".bashrc", false},
		{"stdout", "stdout", false},
	} {
		j := &Job{Outputs: strings.Fields(c.patterns)}
		if got := j.HiddenOutput(0, c.name); got != c.hidden {
			t.Errorf("%s of %s: hidden %v", c.name, c.patterns, got)
		}
	}
}
