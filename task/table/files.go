package table

import (
	"os"

	"godwit/task"
)

// Files returns the rows of tables whose files, not sealed, lie at paths: those of a job that was brought to
// this machine whole.
func Files(path func(task.CID) string) task.Rows {
	return NewReader(func(t *task.Table, page int) ([]byte, error) {
		f, err := os.Open(path(t.CID))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return PageOf(f, page)
	}).Row
}
