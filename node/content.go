package node

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"godwit/blocks"
	"godwit/node/exec"
	"godwit/sandbox"
	"godwit/task"
)

// maxRecord bounds a job's record. A job file of a mebibyte, the largest
// accepted, makes a record smaller than this.
const maxRecord = 2 << 20

// A content is what the node keeps by its content, and brings here from others. It is
// safe for any goroutine.
type content struct {
	self    task.PeerID
	blocks  *blocks.Store
	gate    *blocks.Gate // who may have which of them
	pins    pins
	room    *room
	cramped chan struct{} // asks for a collection of blocks; holds one
	valid   validated     // modules
	checker exec.Checker  // of modules; nil if the runner runs none
	ran     patronage     // submitters of jobs that ran here
	plains  plains        // of sealed files
}

// Blocks returns the blocks.
func (c *content) Blocks() *blocks.Store { return c.blocks }

// Fetch brings whole DAGs here, each of the size that its bound allows, and makes them
// durable.
func (c *content) Fetch(ctx context.Context, roots []blocks.Root, holders []task.PeerID) error {
	var cids []task.CID
	for _, r := range roots {
		cids = append(cids, r.CID)
	}
	defer c.Hold(cids)()
	for _, r := range roots {
		if err := c.bring(ctx, r, holders); err != nil {
			return err
		}
	}
	return c.blocks.Sync(ctx)
}

// bring brings a whole DAG here.
func (c *content) bring(ctx context.Context, root blocks.Root, holders []task.PeerID) error {
	others := holders[:0:0]
	for _, h := range holders {
		if h != c.self {
			others = append(others, h)
		}
	}
	if err := c.blocks.Fetch(ctx, root.CID, others, root.Bound); err != nil {
		c.Failed(err)
		return fmt.Errorf("fetching %s: %w", root.CID, err)
	}
	return nil
}

// Record returns the job of that ID and who submitted it, from here or from the holders, with
// its signature checked.
func (c *content) Record(ctx context.Context, id task.JobID, holders []task.PeerID) (
	*task.Job, task.PeerID, error) {
	cid := task.CID(id)
	if err := c.Fetch(ctx, []blocks.Root{{CID: cid, Bound: blocks.AtMost(maxRecord)}}, holders); err != nil {
		return nil, "", err
	}
	b, err := c.blocks.Get(ctx, cid)
	if err != nil {
		return nil, "", fmt.Errorf("reading the job's record: %w", err)
	}
	rec, err := task.DecodeRecord(b)
	if err != nil {
		return nil, "", fmt.Errorf("reading the job's record: %w", err)
	}
	job, err := rec.Open()
	if err != nil {
		return nil, "", fmt.Errorf("opening the job's record: %w", err)
	}
	c.ran.note(rec.Submitter(), 0)
	return job, rec.Submitter(), nil
}

// Worked adds CPU time that a submitter's task took here.
func (c *content) Worked(submitter task.PeerID, cpu time.Duration) { c.ran.note(submitter, cpu) }

// checkModule refuses what no worker could run, before anything is offered.
func (c *content) checkModule(ctx context.Context, module task.CID) error {
	r, _, err := c.blocks.Open(ctx, module, blocks.AtMost(sandbox.MaxModule))
	if err != nil {
		return fmt.Errorf("reading the module: %w", err)
	}
	defer r.Close()
	if c.valid.has(module) {
		return nil
	}
	var b bytes.Buffer
	if _, err := io.Copy(&b, r); err != nil {
		return fmt.Errorf("reading the module: %w", err)
	}
	if c.checker == nil {
		return sandbox.CheckSections(b.Bytes())
	}
	if err := c.checker.Check(ctx, b.Bytes()); err != nil {
		return err
	}
	c.valid.add(module)
	return nil
}

// Hold keeps content from being collected until release is called, once.
func (c *content) Hold(cids []task.CID) (release func()) { return c.pins.hold(cids) }

// Failed asks for a collection if something could not be stored because the disk is full.
func (c *content) Failed(err error) {
	if isFull(err) {
		c.wantRoom()
	}
}

// wantRoom asks for a collection because the disk is full.
func (c *content) wantRoom() {
	select {
	case c.cramped <- struct{}{}:
	default: // one is asked for already
	}
}

// Pins are the content that is being fetched: it may take longer than what is
// new is safe, and no machine names it before it is here. The zero value is none.
type pins struct {
	mu   sync.Mutex
	held map[task.CID]int // how often; > 0
}

// hold pins content until release is called, once.
func (p *pins) hold(cids []task.CID) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = map[task.CID]int{}
	}
	for _, c := range cids {
		p.held[c]++
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range cids {
			if p.held[c]--; p.held[c] == 0 {
				delete(p.held, c)
			}
		}
	}
}

func (p *pins) list() []task.CID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.held))
}
