package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"godwit/blocks/seal"
	"godwit/task"
	"godwit/task/table"
)

// storedTable stores a table of so many rows, sealed or not, whose row i is "row i" and a filler.
func storedTable(t *testing.T, h *fakeHost, sealer *seal.Sealer, rows int) *task.Table {
	t.Helper()
	var file bytes.Buffer
	w := table.NewWriter(&file, []string{"", "filler"})
	for i := range rows {
		if err := w.Add(fmt.Sprintf("row %d", i), string(bytes.Repeat([]byte{'x'}, 5000))); err != nil {
			t.Fatal(err)
		}
	}
	made, err := w.Close()
	if err == nil {
		made.CID, made.Size, err = h.blocks.Import(t.Context(), sealer.Sealing(&file))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &made
}

// Rows of a table of several pages are found wherever they are, sealed or not; a task of a table that is
// not as the job says fails by its own fault, and one of a table that is not to be had does not.
func TestExpandsByTable(t *testing.T) {
	const rows = 130
	for name, fill := range map[string]byte{"open": 0, "sealed": 7} {
		h := newFakeHost()
		h.executor(t, &filing{})
		var sealer *seal.Sealer
		if fill != 0 {
			_, sealer = keyed(t, fill)
		}
		made := storedTable(t, h, sealer, rows)
		if len(made.Pages) != 2 {
			t.Fatalf("%d pages", len(made.Pages)+1)
		}
		job := func(made *task.Table) *Job {
			spec := &task.Job{Args: []string{"{{.in}}"}, Sweep: task.Sweep{Axes: []task.Axis{{Name: "in", Table: made}}}}
			return &Job{spec: spec, rows: newRows(h, spec, sealer, nil)}
		}
		right := job(made)
		for _, i := range []uint64{0, rows - 1, 60, 51, 52, 103, 104, 1} {
			inv, err := right.expand(context.Background(), i, nil)
			if err != nil || inv.Args[0] != fmt.Sprintf("row %d", i) {
				t.Fatalf("%s: row %d is %v, %v", name, i, inv.Args, err)
			}
		}
		for lie, tell := range map[string]func(*task.Table){
			"size":    func(m *task.Table) { m.Size-- },
			"rows":    func(m *task.Table) { m.Rows += 1000 },
			"another": func(m *task.Table) { m.Columns = m.Columns[:1] },
		} {
			said := *made
			said.Pages = append([]uint64{}, made.Pages...)
			tell(&said)
			if inv, err := job(&said).expand(context.Background(), rows-1, nil); !errors.Is(err, task.ErrTable) {
				t.Errorf("%s, a lie about %s: %.40v, %v", name, lie, inv.Args, err)
			}
		}
		gone := *made
		gone.CID = task.RawCID([]byte("nowhere"))
		if _, err := job(&gone).expand(context.Background(), 0, nil); err == nil || errors.Is(err, task.ErrTable) {
			t.Errorf("%s: a table that is nowhere: %v", name, err)
		}
	}
}

// The pages of a table are the chunks of a sealed file.
func TestPagesAreChunks(t *testing.T) {
	if task.TableChunk != seal.Chunk || task.TablePage != seal.Chunk-seal.Overhead {
		t.Error("a page of a table is not what a sealed chunk holds")
	}
}
