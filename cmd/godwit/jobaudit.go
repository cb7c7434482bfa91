package main

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/audit"
	"godwit/lab/table"
)

// runAudit runs tasks of a job again and tells what came of it.
func (f *jobFlags) runAudit(cmd *cobra.Command, client *api.Client, ref string, asJSON bool) (err error) {
	if f.audit < 1 {
		return failure.Usage("write --audit 20", "--audit %d: there is nothing to run", f.audit)
	}
	if f.one && f.audit != 1 {
		return failure.Usage("write --audit 1", "--audit %d: task %d is one task", f.audit, f.index)
	}
	command, err := sandboxCommand()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "godwit-audit-")
	if err != nil {
		return fmt.Errorf("making a scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	compiled, interpreted := enginePools(command, dir)
	defer func() { err = errors.Join(err, compiled.Close(), interpreted.Close()) }()
	a := audit.Auditor{Compiled: compiled, Interpreted: interpreted, Dir: dir, Client: client}
	if !asJSON {
		a.Told = func(done, of int, index uint64) {
			fmt.Fprintf(cmd.ErrOrStderr(), "running task %d again, %d of %d\n", index, done+1, of)
		}
	}
	var only *uint64
	if f.one {
		only = &f.index
	}
	var seed [32]byte
	crand.Read(seed[:])
	found, of, err := a.Job(cmd.Context(), ref, f.audit, only, rand.New(rand.NewChaCha8(seed)))
	if err == nil && len(found) == 0 {
		return &failure.Error{Code: failure.ExitFailed, Err: audit.Nothing(only),
			Hint: "`godwit job` lists the tasks that ended"}
	}
	if err := printAudit(cmd, found, of, asJSON); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return verdict(found)
}

// compiledCache is where modules are compiled to once for all verbs; else, a directory of
// this one.
func compiledCache(scratch string) string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "godwit", "compiled")
	}
	return scratch
}

func printAudit(cmd *cobra.Command, found []audit.Finding, of int, asJSON bool) error {
	if asJSON {
		for _, v := range found {
			if err := table.JSON(cmd.OutOrStdout(), v); err != nil {
				return err
			}
		}
		return nil
	}
	var rows [][]string
	count := map[audit.Verdict]int{}
	for _, v := range found {
		count[v.Verdict]++
		var workers []string
		for _, w := range v.Workers {
			workers = append(workers, table.ShortPeer(w))
		}
		rows = append(rows, []string{strconv.FormatUint(v.Task, 10), strings.Join(workers, ","), string(v.Verdict),
			v.Here.Round(time.Millisecond).String(), v.There.Round(time.Millisecond).String(), v.Why})
	}
	table.Print(cmd.OutOrStdout(), "TASK WORKER RESULT CPU-HERE CPU-THERE WHY", rows)
	fmt.Fprintf(cmd.OutOrStdout(), "%d of %d ended tasks ran again: %d right, %d differ, %d open\n", len(found), of,
		count[audit.Right], count[audit.Differs], count[audit.Open])
	return nil
}

// verdict is an error where a result differs.
func verdict(found []audit.Finding) error {
	n := 0
	for _, v := range found {
		if v.Verdict == audit.Differs {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &failure.Error{Code: failure.ExitPartly, Err: fmt.Errorf("%d of %d results are not what their tasks give here",
		n, len(found)), Hint: "audit the same tasks on another machine, with --task: if it agrees with this one, the " +
		"worker is wrong; else test this machine's memory"}
}
