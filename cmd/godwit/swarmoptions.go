package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/progress"
	"godwit/lab/table"
)

// bedOptions are those of every run of real nodes.
type bedOptions struct {
	nodes  int    // 1 to maxSwarm
	cores  int    // tasks that each node runs at once, 1 or more
	runner string // node.RunWasm or node.RunSleep
	dir    string // for the nodes' data and logs; "": a temporary one
	report string // file for the JSON report; "": none
	seed   uint64
	json   bool // print the report as JSON
	quiet  bool // show no progress
}

// maxSwarm is far more than one machine runs well; it catches typing errors.
const maxSwarm = 1000

// makeDir returns where the swarm's data go, and what removes them if nobody named
// a place.
func (o *bedOptions) makeDir() (dir string, remove func() error, err error) {
	if o.dir != "" {
		return o.dir, func() error { return nil }, nil
	}
	if dir, err = os.MkdirTemp("", "godwit-swarm-"); err != nil {
		return "", nil, fmt.Errorf("making the swarm's directory: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// nodeArgs are the arguments of `godwit up` that every node has.
func (o *bedOptions) nodeArgs() []string {
	return []string{"--cores", fmt.Sprint(o.cores), "--runner", o.runner}
}

// progress shows on w how a run goes, unless that is not wanted.
func (o *bedOptions) progress(w io.Writer) *progress.Progress {
	return progress.New(w, o.quiet || o.json)
}

// check refuses what no nodes can be.
func (o *bedOptions) check() error {
	if o.cores < 1 {
		return failure.Usage("write --cores 1", "--cores %d: a node runs a task at once or more", o.cores)
	}
	return nil
}

// with starts equal nodes, waits until they know each other, calls use, and ends them, whatever happens.
func (o *bedOptions) with(ctx context.Context, use func(sw *swarm, startup time.Duration) error) (err error) {
	dir, remove, err := o.makeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	begun := time.Now()
	sw, err := startSwarm(ctx, dir, o.nodes, o.nodeArgs())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sw.stop()) }()
	if err := sw.awaitMembers(ctx); err != nil {
		return err
	}
	return use(sw, time.Since(begun))
}

// tell writes a report where it is wanted: to a file, and on out as JSON or as print has it.
func (o *bedOptions) tell(out io.Writer, report any, print func(io.Writer) error) (err error) {
	if o.report != "" {
		err = files.SaveJSON(o.report, report)
	}
	if o.json {
		return errors.Join(err, table.JSON(out, report))
	}
	return errors.Join(err, print(out))
}
