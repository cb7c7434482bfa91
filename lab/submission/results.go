package submission

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"godwit/api"
	"godwit/blocks"
	"godwit/lab/files"
	"godwit/scheduler/message"
	"godwit/task"
)

// Collect fetches every result of a job, checks it and writes it below dir:
// DIR/NAME for a job of one task, DIR/INDEX/NAME for a sweep. It returns how
// many files it wrote.
func Collect(ctx context.Context, client *api.Client, ref, dir string) (int, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, fmt.Errorf("making the results' directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, fmt.Errorf("opening the results' directory: %w", err)
	}
	defer root.Close()
	written := 0
	err = eachTask(ctx, client, ref, func(total uint64, t message.TaskSummary) error {
		if t.Failed || len(t.Results) == 0 {
			return nil
		}
		sub := "."
		if total > 1 {
			sub = fmt.Sprintf("%0*d", len(strconv.FormatUint(total-1, 10)), t.Index)
		}
		n, err := writeTask(ctx, client, root, sub, t)
		written += n
		return err
	})
	return written, err
}

// eachTask calls f for every ended task that the node holds, in order, after
// checking the workers' signatures.
func eachTask(ctx context.Context, client *api.Client, ref string,
	f func(total uint64, t message.TaskSummary) error) error {
	for from := uint64(0); ; {
		page, err := client.Results(ctx, ref, from)
		if err != nil {
			return err
		}
		if len(page.Tasks) == 0 {
			return nil
		}
		for _, t := range page.Tasks {
			for i := range t.Results {
				if err := t.Results[i].Verify(); err != nil {
					return fmt.Errorf("task %d: the result of %s does not verify: %w", t.Index, t.Results[i].Worker, err)
				}
			}
			if err := f(page.Total, t); err != nil {
				return fmt.Errorf("task %d: %w", t.Index, err)
			}
			from = t.Index + 1
		}
	}
}

func writeTask(ctx context.Context, client *api.Client, root *os.Root, sub string, t message.TaskSummary) (int,
	error) {
	for i, o := range t.Results[0].Outputs {
		b, err := content(ctx, client, o)
		if err != nil {
			return i, err
		}
		if err := files.WriteWhole(root, filepath.Join(sub, filepath.FromSlash(o.Name)), b); err != nil {
			return i, err
		}
	}
	return len(t.Results[0].Outputs), nil
}

// content returns an output's bytes, and an error unless they are the ones
// that the signed result names.
func content(ctx context.Context, client *api.Client, o task.Output) ([]byte, error) {
	if o.Size > task.MaxOutputBytes {
		return nil, fmt.Errorf("%s has %s by its worker's word, and no task may write more than %s",
			o.Name, task.FormatSize(o.Size), task.FormatSize(task.MaxOutputBytes))
	}
	b := o.Inline
	if int64(len(b)) != o.Size {
		r, err := client.OpenFile(ctx, o.CID)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.Name, err)
		}
		defer r.Close()
		if b, err = io.ReadAll(io.LimitReader(r, o.Size+1)); err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.Name, err)
		}
	}
	c, err := blocks.CIDOfBytes(b)
	if err != nil {
		return nil, fmt.Errorf("checking %s: %w", o.Name, err)
	}
	if c != o.CID {
		return nil, fmt.Errorf("%s is not what its worker signed: content %s, result %s", o.Name, c, o.CID)
	}
	return b, nil
}

// PrintOnly prints the standard output of a job's only task, and writes its
// other outputs into the current directory.
func PrintOnly(ctx context.Context, w io.Writer, client *api.Client, id task.JobID) error {
	root, err := os.OpenRoot(".")
	if err != nil {
		return fmt.Errorf("opening the current directory: %w", err)
	}
	defer root.Close()
	return eachTask(ctx, client, string(id), func(_ uint64, t message.TaskSummary) error {
		for _, o := range firstOutputs(t) {
			b, err := content(ctx, client, o)
			if err != nil {
				return err
			}
			if o.Name == "stdout" {
				_, err = io.Copy(w, bytes.NewReader(b))
			} else {
				err = files.WriteWhole(root, filepath.FromSlash(o.Name), b)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func firstOutputs(t message.TaskSummary) []task.Output {
	if len(t.Results) == 0 {
		return nil
	}
	return t.Results[0].Outputs
}
