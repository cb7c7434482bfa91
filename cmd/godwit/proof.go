package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/proof"
	"godwit/lab/table"
	"godwit/sandbox"
)

func newProof() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proof",
		Short: "Proofs that a worker signed a wrong result: save one, check one",
		Long: `Proofs that a worker signed a wrong result, or left a wrong state.
A proof is a file with the job, the program, the inputs that the task reads and what
was signed; where one part of the run is known to be wrong, with the state before it. A
task gives the same on every machine, so whoever has the file can run the task, or that
part of it, and see.`,
		Example: `  godwit proof save render 7 --out worker.proof
  godwit proof check worker.proof`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failure.Usage("say save or check", "what to do with a proof?")
		},
	}
	for _, c := range []*cobra.Command{newProofSave(), newProofCheck()} {
		c.Args = explained(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func newProofSave() *cobra.Command {
	var c clientFlags
	var out string
	var reveal bool
	cmd := &cobra.Command{
		Use:   "save ID TASK --out FILE",
		Short: "Save what proves that the result of a task was wrong",
		Long: `Save what proves that the result of a task was wrong.
That task is marked "replaced" by ` + "`godwit job`" + `. The file has the program and the inputs of the
task, and of one of which a part was wrong its memory before that: give it to nobody who
must not have them.`,
		Example: `  godwit proof save render 7 --out worker.proof`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			index, err := strconv.ParseUint(args[1], 10, 64)
			switch {
			case err != nil:
				return failure.Usage("`godwit job ID` lists the tasks", "%q is no index of a task", args[1])
			case out == "":
				return failure.Usage("for example --out worker.proof", "no file given for the proof")
			}
			return withClient(&c, func(client *api.Client) error {
				return saveProof(cmd.Context(), client, args[0], index, out, reveal)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write; it must not exist")
	cmd.Flags().BoolVar(&reveal, "reveal", false,
		"put the key of a sealed job in: whoever has the file can read its inputs")
	return cmd
}

func saveProof(ctx context.Context, client *api.Client, ref string, index uint64, out string, reveal bool) error {
	statement, err := refuted(ctx, client, ref, index)
	if err != nil {
		return err
	}
	if len(statement.Record.Key) > 0 && !reveal {
		return failure.Usage("--reveal puts its key in",
			"the job is sealed: whoever checks the proof has to read its inputs")
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing the proof: %w", err)
	}
	err = proof.Write(ctx, f, statement, client)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	return nil
}

// refuted is what a node keeps of a result that it found wrong.
func refuted(ctx context.Context, client *api.Client, ref string, index uint64) (proof.Statement, error) {
	job, err := client.Results(ctx, ref, 0)
	if err != nil {
		return proof.Statement{}, err
	}
	page, err := client.Results(ctx, ref, index)
	if err != nil {
		return proof.Statement{}, err
	}
	if job.Record == nil || len(page.Tasks) == 0 || page.Tasks[0].Index != index || page.Tasks[0].Refuted == nil {
		return proof.Statement{}, &failure.Error{Code: failure.ExitFailed,
			Err:  fmt.Errorf("this node found nothing wrong with the result of task %d", index),
			Hint: fmt.Sprintf("`godwit job %s --tasks` marks those replaced that were wrong", ref)}
	}
	w := page.Tasks[0].Refuted
	if of := w.Result.Task.Job; of != job.Record.ID() { // the result was taken from another job
		if job, err = client.Results(ctx, string(of), 0); err != nil {
			return proof.Statement{}, fmt.Errorf("reading the job from which the result was taken: %w", err)
		}
		if job.Record == nil {
			return proof.Statement{}, &failure.Error{Code: failure.ExitFailed,
				Err:  fmt.Errorf("the result of task %d was taken from job %s, which this node has forgotten", index, of),
				Hint: "a proof needs the record of the job that the worker ran"}
		}
	}
	return proof.Statement{Record: *job.Record, Result: w.Result, Part: w.Proof}, nil
}

func newProofCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Run the task of a proof, and say who is proven wrong",
		Long: `Run the task of a proof in the sandbox of this machine, and say who is proven wrong.
No node has to run here. Of a proof of one part that part alone is run, from the state
before it. Where something else comes out than was signed, the program is interpreted,
too, so that a fault of the compiler accuses nobody. Of a run that went on from states
that others left, the task is run up to each. Exit code 0 if the proof holds, 1 if it
proves nothing, 4 if it cannot be told here.`,
		Example: `  godwit proof check worker.proof`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			command, err := sandboxCommand()
			if err != nil {
				return err
			}
			file, err := os.Open(args[0])
			if err != nil {
				return failure.Usage("", "%w", err)
			}
			defer file.Close()
			info, err := file.Stat()
			if err != nil {
				return err
			}
			dir, err := os.MkdirTemp("", "godwit-proof-")
			if err != nil {
				return fmt.Errorf("making a scratch directory: %w", err)
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			compiled, interpreted := enginePools(command, dir)
			defer func() { err = errors.Join(err, compiled.Close(), interpreted.Close()) }()
			checker := proof.Checker{Compiled: compiled, Interpreted: interpreted, Dir: dir}
			if !asJSON {
				checker.Told = func(what string) { fmt.Fprintf(cmd.ErrOrStderr(), "running %s\n", what) }
			}
			f, err := checker.Check(cmd.Context(), file, info.Size())
			if err != nil {
				return failure.Usage("", "%s: %w", args[0], err)
			}
			return printProof(cmd, &f, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// enginePools run tasks as nodes do, and interpreted.
func enginePools(command []string, dir string) (compiled, interpreted *sandbox.Pool) {
	pool := func(interpreted bool) *sandbox.Pool {
		return sandbox.NewPool(sandbox.Config{Command: command, CacheDir: compiledCache(dir), ScratchDir: dir,
			Interpret: func() bool { return interpreted }, KeepPriority: waitedFor})
	}
	return pool(false), pool(true)
}

func printProof(cmd *cobra.Command, f *proof.Finding, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		if err := table.JSON(out, f); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(out, "job        %s (%s), task %d\n", f.Job, f.Name, f.Task)
		fmt.Fprintf(out, "signed by  %s\n", f.Signed)
		if f.Leader != "" {
			fmt.Fprintf(out, "leased by  %s\n", f.Leader)
		}
		if p := f.Part; p != nil {
			fmt.Fprintf(out, "part       from fuel %d to %d\n", p.From, p.To)
		}
		for k, fuel := range f.States {
			fmt.Fprintf(out, "went on    from the state at fuel %d, which %s left\n", fuel, f.Left[k])
		}
		fmt.Fprintf(out, "found      %s\n", f.Why)
	}
	switch f.Verdict {
	case proof.Proven:
		if !asJSON {
			fmt.Fprintf(out, "proven     %s is wrong\n", f.By)
		}
		return nil
	case proof.Nothing:
		return &failure.Error{Code: failure.ExitFailed, Err: errors.New("the file proves nothing")}
	}
	return &failure.Error{Code: failure.ExitPartly, Err: errors.New("it cannot be told here who is wrong"),
		Hint: "check the file on another machine"}
}
