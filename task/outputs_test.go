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
