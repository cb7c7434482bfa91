package task_test

import (
	"slices"
	"testing"

	"godwit/task"
)

// TestUnwritten: what a job names by its whole name is missed; patterns, standard output and error are not.
func TestUnwritten(t *testing.T) {
	for name, tt := range map[string]struct {
		asks, has, want []string
	}{
		"all there":       {[]string{"stdout", "a.csv", "b/c.csv"}, []string{"a.csv", "b/c.csv", "stdout"}, nil},
		"one is not":      {[]string{"stdout", "a.csv", "b/c.csv"}, []string{"a.csv", "stdout"}, []string{"b/c.csv"}},
		"none is":         {[]string{"b", "a"}, nil, []string{"b", "a"}},
		"patterns":        {[]string{"*.csv", "a?", "[ab]", `\*`}, nil, nil},
		"nothing printed": {[]string{"stdout", "stderr"}, nil, nil},
	} {
		job := &task.Job{Outputs: tt.asks}
		var outputs []task.Output
		for _, n := range tt.has {
			outputs = append(outputs, task.Output{Name: n})
		}
		if got := task.Unwritten(job, 0, outputs); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
