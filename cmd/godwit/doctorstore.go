package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"godwit/lab/table"
	"godwit/node"
	"godwit/task"
)

// storeFlags say what doctor does about damaged stores.
type storeFlags struct{ look, recover bool }

// examineStores reports what is readable of the stores that were set aside because they were damaged,
// or adds it to the node's store.
func (c *clientFlags) examineStores(ctx context.Context, out, log io.Writer, add bool) error {
	var found []node.StoreFound
	var err error
	cfg := node.Config{DataDir: c.dataDir, Log: slog.New(slog.NewTextHandler(log, nil))}
	if add {
		found, err = node.RecoverSetAside(ctx, cfg)
	} else {
		found, err = node.SetAside(c.dataDir)
	}
	if err != nil {
		return startFailure(err, cfg)
	}
	if c.json {
		for _, f := range found {
			if err := table.JSON(out, f); err != nil {
				return err
			}
		}
		return nil
	}
	printStores(out, found, add)
	return nil
}

func printStores(out io.Writer, found []node.StoreFound, added bool) {
	if len(found) == 0 {
		fmt.Fprintln(out, "no damaged store was set aside")
		return
	}
	for _, f := range found {
		fmt.Fprintf(out, "%s\n  readable: %d of your jobs, %d blocks (%s); damaged: %d files or values\n", f.Dir,
			len(f.Jobs), f.Blocks, task.FormatSize(f.Bytes), f.Lost)
		var rows [][]string
		for _, j := range f.Jobs {
			state := "open"
			if j.Final {
				state = "done"
			}
			rows = append(rows, []string{"  " + table.ShortJob(j.ID), j.Name, state,
				strconv.FormatUint(j.Results, 10) + "/" + strconv.FormatUint(j.Tasks, 10)})
		}
		if len(rows) > 0 {
			table.Print(out, "  JOB NAME STATE RESULTS", rows)
		}
	}
	if added {
		fmt.Fprintln(out, "What the node's store lacked of these jobs and blocks was added: start the node with `godwit up`. "+
			"Remove the directories above when all is there.")
		return
	}
	fmt.Fprintln(out, "To add them to the node's store: stop the node, then run `godwit doctor --store --recover`.")
}
