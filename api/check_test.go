package api

import (
	"fmt"
	"strings"
	"testing"

	"godwit/task"
)

// What no job may have is refused before a page sends anything: too large a file, too many, and both with the way out.
func TestInputsThatFit(t *testing.T) {
	f, err := task.ParseFile("job.yaml", []byte("module: a.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	many := func(n int) map[string]int64 {
		sizes := map[string]int64{}
		for i := range n {
			sizes[fmt.Sprint("part-", i)] = 1
		}
		return sizes
	}
	for _, c := range []struct {
		name  string
		sizes map[string]int64
		want  string // "" for none
	}{
		{"none", nil, ""},
		{"as many as may be", many(task.MaxInputs), ""},
		{"one more", many(task.MaxInputs + 1), "10001 input files, the most is 10000"},
		{"as large as may be", map[string]int64{"a": task.MaxTaskInputs}, ""},
		{"a byte more", map[string]int64{"a": task.MaxTaskInputs + 1}, "a task can read"},
		{"negative", map[string]int64{"a": -1}, "negative"},
	} {
		err := fit(f, c.sizes)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
