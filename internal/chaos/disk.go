package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"godwit/internal/noop"
)

const (
	// diskSize is how large every node's disk is: some times what a node writes in
	// a run.
	diskSize = "64m"
	// noticeLimit is how long a node may take to say what is wrong with it.
	noticeLimit = 15 * time.Second
	// largeModule is the size of a module that needs new room, in bytes. Pebble
	// sets a few MiB aside for its log.
	largeModule = 16 << 20
	// refuseLimit is how long a submission may take that is to be refused.
	refuseLimit = 15 * time.Second
)

// aboutDisk is what a node with a full disk may be expected to say.
var aboutDisk = regexp.MustCompile(`(?i)disk|no space|storage`)

// disk fills up the disk of the leader. It says so and takes in nothing more;
// what was accepted ends without it, and so does what is handed in elsewhere.
func disk(ctx context.Context, t *trial) error {
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	for _, n := range t.nodes { // nobody knows yet who will lead
		if err := t.mountDisk(ctx, n); err != nil {
			return err
		}
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	leader, v := t.tally.Leader()
	full := t.nodes[leader]
	rest := t.others(append(t.group(v), full))
	if _, err := t.submit(ctx, rest[0], "before", sideTasks, acceptLimit); err != nil {
		return err
	}
	said, ballast := full.logSize(), filepath.Join(full.dir, "ballast")
	written, err := fill(ballast)
	if err != nil {
		return err
	}
	t.say("the disk of node %d, which leads, is full: %d MiB written", leader, written>>20)
	t.report.must("a node with a full disk refuses a submission", t.refuses(ctx, full))
	t.report.must("it says that its disk is full", t.says(ctx, full, said, aboutDisk))
	_, err = t.submit(ctx, rest[1], "meanwhile", sideTasks, acceptLimit)
	t.report.must("the swarm goes on accepting jobs", err)
	if err := t.settle(ctx, settleLimit); err != nil {
		return err
	}
	if err := os.Remove(ballast); err != nil {
		return fmt.Errorf("making room again: %w", err)
	}
	t.say("node %d has room again", leader)
	return t.afterwards(ctx)
}

// mountDisk gives a node a small disk of its own, in memory.
func (t *trial) mountDisk(ctx context.Context, n *node) error {
	if os.Geteuid() != 0 {
		return skip("a small disk is mounted by root only")
	}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return fmt.Errorf("making a node's directory: %w", err)
	}
	if said, err := exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", "size="+diskSize+",mode=0700", "tmpfs",
		n.dir).CombinedOutput(); err != nil {
		return skip(fmt.Sprintf("no small disk can be mounted: %v: %s", err, strings.TrimSpace(string(said))))
	}
	t.undo = append(t.undo, func() {
		// Lazily: what still looks at it must not keep the run from ending.
		if said, err := exec.Command("umount", "-l", n.dir).CombinedOutput(); err != nil {
			t.say("unmounting a node's disk: %v: %s", err, said)
		}
	})
	return nil
}

// fill writes a file until nothing more fits, not even a small piece.
func fill(path string) (written int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, fmt.Errorf("filling a disk: %w", err)
	}
	defer f.Close()
	piece := make([]byte, 1<<20)
	for len(piece) > 0 {
		n, err := f.Write(piece)
		written += int64(n)
		if errors.Is(err, syscall.ENOSPC) {
			piece = piece[:len(piece)/2]
		} else if err != nil {
			return written, fmt.Errorf("filling a disk: %w", err)
		}
	}
	return written, nil
}

// says waits until a node says something of that kind, in its status or in its
// log from that position on.
func (t *trial) says(ctx context.Context, n *node, from int64, what *regexp.Regexp) error {
	err := until(ctx, noticeLimit, func() string {
		if s, err := n.ask.status(ctx); err == nil && what.MatchString(s.Rule+" "+s.Reason) {
			t.say("node %d says: state %s, rule %s: %s", n.index, s.State, s.Rule, s.Reason)
			return ""
		}
		for line := range strings.Lines(n.saidSince(from)) {
			if what.MatchString(line) {
				t.say("node %d says: %s", n.index, strings.TrimSpace(line))
				return ""
			}
		}
		return "nothing of it is in its status or its log"
	})
	if err != nil {
		return fmt.Errorf("node %d: %w; it said:\n%s", n.index, err, n.said())
	}
	return nil
}

// refuses hands a job in at a node that is not to take it. The job is no promise
// of anybody's: it is left to itself. Its module is larger than the room that a
// database has set aside.
func (t *trial) refuses(ctx context.Context, n *node) error {
	module := filepath.Join(t.dir, "large.wasm")
	if err := os.WriteFile(module, padded(noop.Module, largeModule, t.rng), 0o600); err != nil {
		return fmt.Errorf("writing a module: %w", err)
	}
	l, err := t.labour(ctx)
	if err != nil {
		return err
	}
	l.module = module
	j := job{name: "refused", tasks: 1, labour: l}
	file, err := j.write(t.dir)
	if err != nil {
		return fmt.Errorf("writing a job: %w", err)
	}
	asked, cancel := context.WithTimeout(ctx, refuseLimit)
	defer cancel()
	id, err := n.verb(asked, "run", file, "--detach")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case asked.Err() != nil:
		return fmt.Errorf("node %d did not answer within %v; it said:\n%s", n.index, refuseLimit, n.said())
	case err == nil:
		return fmt.Errorf("node %d accepted job %s", n.index, id)
	}
	t.say("refused: %v", err)
	return nil
}
