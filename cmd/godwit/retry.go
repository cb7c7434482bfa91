package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/task"
)

func newRetry() *cobra.Command {
	var (
		c           clientFlags
		module, out string
		detach      bool
	)
	cmd := &cobra.Command{
		Use:   "retry ID",
		Short: "Run the tasks of a job again that failed, or never ran",
		Long: "Run the tasks of a job again that failed, or never ran since it was cancelled, as a job of their own, with\n" +
			"a mended program if --module names one. Each runs with what it ran with before. Of a job with stages what hung\n" +
			"on them runs, too; all of it is handed in, and takes the results that there are.",
		Args: cobra.ExactArgs(1),
		Example: `  godwit retry render
  godwit retry render --module render-2.wasm --out mended
  godwit retry workflow --module fit=fit-2.wasm`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				ctx := cmd.Context()
				stage, path := stageOf(module)
				cid, err := putModule(ctx, client, path)
				if err != nil {
					return err
				}
				id, err := client.Retry(ctx, args[0], cid, stage)
				if err != nil {
					return err
				}
				if detach {
					return printID(cmd.OutOrStdout(), id, c.json)
				}
				p := progress.New(cmd.ErrOrStderr(), false)
				p.Note("job %s accepted", id)
				end, err := submission.Follow(ctx, client, id, p)
				if err != nil {
					return stillThere(err, id)
				}
				noteWrong(p, end)
				if out == "" {
					p.Note("`godwit results %s --out DIR` fetches what they gave", id)
					return submission.Verdict(end)
				}
				done, err := submission.Collect(ctx, client, string(id), out)
				noteHidden(p.Note, done)
				return errors.Join(err, submission.Verdict(end))
			})
		},
	}
	c.add(cmd)
	f := cmd.Flags()
	f.StringVar(&module, "module", "", "`FILE` of another module; STAGE=FILE where tasks of several stages failed")
	f.StringVar(&out, "out", "", "`DIR` for the results, by the numbers that the tasks had before")
	f.BoolVar(&detach, "detach", false, "print the job's ID once it is accepted, and return")
	return cmd
}

// stageOf divides STAGE=FILE; a file whose own name has the sign has to be written with its directory, as in ./a=b.
func stageOf(module string) (stage, path string) {
	before, after, found := strings.Cut(module, "=")
	if !found || strings.ContainsAny(before, `/\`) {
		return "", module
	}
	return before, after
}

// putModule stores a module; "" is none.
func putModule(ctx context.Context, client *api.Client, path string) (task.CID, error) {
	if path == "" {
		return "", nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", failure.Usage("", "reading the module: %w", err)
	}
	if err := checkModule(b); err != nil {
		return "", err
	}
	reply, err := client.PutFile(ctx, bytes.NewReader(b))
	return reply.CID, err
}
