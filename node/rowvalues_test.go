package node

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// Rows are told by their values, as far as pages are read, and but for such as nobody would read.
func TestShowRows(t *testing.T) {
	const all = 100 // rows, one a page
	table := &task.Table{Rows: all, Columns: []task.Column{{Name: "x", Longest: 9}}}
	for i := range uint64(all - 1) {
		table.Pages = append(table.Pages, i+1)
	}
	axes := []task.Axis{{Name: "n", Values: []string{"v"}}, {Name: "row", Table: table}}
	spec := &task.Job{Sweep: task.Sweep{Axes: axes}}
	table.Columns[0].Longest = 2 * shownRow
	rows := func(_ *task.Table, i uint64) ([]string, error) {
		if i == 3 {
			return []string{strings.Repeat("long", shownRow/2)}, nil
		}
		return []string{fmt.Sprint("text ", i)}, nil
	}
	var tasks []message.TaskStatus
	for i := range uint64(all) {
		tasks = append(tasks, message.TaskStatus{Index: i, Params: map[string]string{"row": fmt.Sprint(i + 1), "n": "v"}})
	}
	showRows(spec, fewPages(rows), tasks)
	for i, s := range tasks {
		want := map[string]string{"n": "v", "row.x": fmt.Sprint("text ", i)}
		if i == 3 || i >= shownPages {
			want = map[string]string{"n": "v", "row": fmt.Sprint(i + 1)}
		}
		if !maps.Equal(s.Params, want) {
			t.Errorf("task %d runs with %v, want %v", i, s.Params, want)
		}
	}
}
