package testbed

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

// Options are those of every run of real nodes.
type Options struct {
	Nodes  int    // 1 to plan.MaxNodes
	Cores  int    // tasks that each node runs at once, 1 or more
	Runner string // node.RunWasm or node.RunSleep
	Dir    string // for the nodes' data and logs; "": a temporary one
	Report string // file for the JSON report; "": none
	Seed   uint64
	JSON   bool // print the report as JSON
	Quiet  bool // show no progress
}

// MakeDir returns where the swarm's data go, and what removes them if nobody named
// a place.
func (o *Options) MakeDir() (dir string, remove func() error, err error) {
	if o.Dir != "" {
		return o.Dir, func() error { return nil }, nil
	}
	if dir, err = os.MkdirTemp("", "godwit-swarm-"); err != nil {
		return "", nil, fmt.Errorf("making the swarm's directory: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// NodeArgs are the arguments of `godwit up` that every node has.
func (o *Options) NodeArgs() []string {
	return []string{"--cores", fmt.Sprint(o.Cores), "--runner", o.Runner}
}

// NewProgress shows on w how a run goes, unless that is not wanted.
func (o *Options) NewProgress(w io.Writer) *progress.Progress {
	return progress.New(w, o.Quiet || o.JSON)
}

// Check refuses what no nodes can be.
func (o *Options) Check() error {
	if o.Cores < 1 {
		return failure.Usage("write --cores 1", "--cores %d: a node runs a task at once or more", o.Cores)
	}
	return nil
}

// With starts equal nodes, waits until they know each other, calls use, and ends them, whatever happens.
func (o *Options) With(ctx context.Context, use func(sw *Swarm, startup time.Duration) error) (err error) {
	dir, remove, err := o.MakeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	begun := time.Now()
	sw, err := Start(ctx, dir, o.Nodes, o.NodeArgs())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sw.Stop()) }()
	if err := sw.AwaitMembers(ctx); err != nil {
		return err
	}
	return use(sw, time.Since(begun))
}

// Tell writes a report where it is wanted: to a file, and on out as JSON or as print has it.
func (o *Options) Tell(out io.Writer, report any, print func(io.Writer) error) (err error) {
	if o.Report != "" {
		err = files.SaveJSON(o.Report, report)
	}
	if o.JSON {
		return errors.Join(err, table.JSON(out, report))
	}
	return errors.Join(err, print(out))
}
