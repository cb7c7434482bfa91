package node

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipfs/go-datastore/query"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/sandbox"
	"godwit/task"
)

// A copier is a counter whose tasks read their input and put it out, with what it is after.
type copier struct {
	*counter
	after []byte
}

func (*copier) ReadsFiles() bool { return true }

func (c *copier) Run(ctx context.Context, r exec.Run) (sandbox.Report, error) {
	rep, err := c.counter.Run(ctx, r)
	if err != nil || len(rep.Frozen) > 0 || len(r.Invocation.Files) == 0 {
		return rep, err
	}
	data, err := os.ReadFile(r.Input(r.Invocation.Files[0].CID))
	rep.Outputs = []sandbox.File{{Name: "copy", Data: append(data, c.after...)}, {Name: "tail", Data: c.after}}
	return rep, err
}

// stores reports in which of its keys a peer's store has some bytes.
func (p *peer) stores(t *testing.T, what []byte, prefix string) (keys []string) {
	t.Helper()
	rows, err := p.disk.Query(t.Context(), query.Query{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	all, err := rows.Rest()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d values in the store, %v", len(all), err)
	}
	for _, e := range all {
		if bytes.Contains(e.Value, what) {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// copyJob is a job of some tasks that copy their input. The input is stored sealed if the
// overlay's jobs are, or with plain as it is.
func (p *peer) copyJob(t *testing.T, in overlay.ID, data []byte, plain bool) Submission {
	t.Helper()
	f, err := task.ParseFile("copy.yaml", []byte(
		"module: copy.wasm\nwork: 10s\nsweep:\n  n: {from: 1, to: 8}\nfiles: [input.bin]\noutputs: [copy, tail]\n"))
	if err != nil {
		t.Fatal(err)
	}
	sub := Submission{File: f, Overlay: string(in)}
	if !plain {
		if sub.Key, err = p.SealingKey(t.Context(), string(in)); err != nil {
			t.Fatal(err)
		}
	}
	sealer, err := seal.New(sub.Key)
	if err != nil {
		t.Fatal(err)
	}
	c, size, err := p.Blocks().Import(t.Context(), sealer.Sealing(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	if sub.Module, err = p.Blocks().ImportBytes(t.Context(), []byte("not run")); err != nil {
		t.Fatal(err)
	}
	sub.Inputs = map[string]task.FileRef{"input.bin": {CID: c, Size: size}}
	return sub
}

// outputsOf opens the outputs of a task as its submitter does.
func (p *peer) outputsOf(t *testing.T, rec task.Record, outputs []task.Output) (out [][]byte) {
	t.Helper()
	sealer, err := seal.New(rec.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outputs {
		b := o.Inline
		if len(b) == 0 {
			f, _, err := p.Blocks().Open(t.Context(), o.CID, blocks.Exactly(o.Size))
			if err != nil {
				t.Fatal(err)
			}
			if b, err = io.ReadAll(f); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if b, err = sealer.OpenFile(b); err != nil {
			t.Fatalf("output %s: %v", o.Name, err)
		}
		out = append(out, b)
	}
	return out
}

// sealedSwarm is a closed overlay of four nodes whose tasks put out some bytes after their
// input.
func sealedSwarm(t *testing.T, rules OverlayRules, after []byte) (*swarm, overlay.ID) {
	t.Helper()
	s := newSwarm(t, 4)
	for i, p := range s.peers {
		if i > 0 {
			p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
		}
		if p.other = (&copier{p.runner, after}); os.Mkdir(p.cfg.stageDir(), 0o700) != nil {
			t.Fatal("there is nowhere to put inputs")
		}
		p.start()
	}
	s.gather(s.peers...)
	lab := s.peers[0].found(rules)
	for _, p := range s.peers[1:] {
		if rules.Admission == AdmitOpen {
			p.join(string(lab))
		} else {
			p.join(s.peers[0].invite(lab))
		}
	}
	s.gatherIn(lab, s.peers...)
	return s, lab
}

// Of a closed overlay's job nobody's store has a byte of the input or of the outputs that can
// be read, and no block has the key; the outputs arrive as they were, also where the leader
// dies on the way.
func TestSealedJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input, after := noise("a closed overlay's input", 300_000), noise("and its output", 64)
		s, lab := sealedSwarm(t, OverlayRules{Name: "lab", Admission: AdmitInvited}, after)
		leader := s.leadingIn(lab, s.peers[0])
		owner := s.peers[slices.IndexFunc(s.peers, func(p *peer) bool { return p != leader })]
		id, err := owner.Submit(t.Context(), owner.copyJob(t, lab, input, false))
		if err != nil {
			t.Fatal(err)
		}
		rec, spec, err := owner.Submitted(t.Context(), id)
		if err != nil || spec.CheckKey(rec.Key) != nil || len(rec.Key) == 0 {
			t.Fatalf("the job is not sealed, or its submitter has no key: %v", err)
		}
		time.Sleep(5 * time.Second)
		leader.crash()
		for i, r := range owner.finish(id, 8) {
			got := owner.outputsOf(t, rec, r.Results[0].Outputs)
			if len(got) != 2 || !bytes.Equal(got[0], append(bytes.Clone(input), after...)) || !bytes.Equal(got[1], after) {
				t.Errorf("task %d has other outputs", i)
			}
		}
		kept := 0
		for i, p := range s.peers {
			for name, secret := range map[string][]byte{"input": input[1000:1064], "output": after} {
				if at := p.stores(t, secret, ""); len(at) > 0 {
					t.Errorf("node %d stores the %s under %s", i, name, at)
				}
			}
			for _, at := range p.stores(t, rec.Key, "") {
				if kept++; !strings.HasSuffix(at, "/c/j/"+string(id)) && !strings.HasSuffix(at, "/s/j/"+string(id)) {
					t.Errorf("node %d has the key in %s", i, at)
				}
			}
		}
		if kept < 3 { // the submitter, and a group of at least two
			t.Errorf("the key is kept in %d places", kept)
		}
	})
}

// A submission to a closed overlay whose files were stored as they are is sealed when it is
// handed in, one to an open overlay stays as it is, and one whose files are not under its key
// is refused.
func TestSealsWhenHandedIn(t *testing.T) {
	for name, admission := range map[string]string{"closed": AdmitInvited, "open": AdmitOpen} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				input, after := noise("an input", 300_000), noise("an output", 64)
				s, lab := sealedSwarm(t, OverlayRules{Name: "lab", Admission: admission}, after)
				owner, closed := s.peers[1], admission != AdmitOpen
				if key, err := owner.SealingKey(t.Context(), string(lab)); err != nil || (len(key) == task.KeySize) != closed {
					t.Errorf("a key of %d bytes, %v", len(key), err)
				}
				sub := owner.copyJob(t, lab, input, true)
				id, err := owner.Submit(t.Context(), sub)
				if err != nil {
					t.Fatal(err)
				}
				rec, spec, err := owner.Submitted(t.Context(), id)
				if err != nil || len(spec.Sealed) > 0 != closed || len(rec.Key) > 0 != closed ||
					(spec.Inputs[0].CID == sub.Inputs["input.bin"].CID) == closed {
					t.Fatalf("handed in is %+v, %v", spec, err)
				}
				for i, r := range owner.finish(id, 8) {
					if got := owner.outputsOf(t, rec, r.Results[0].Outputs); !bytes.Equal(got[1], after) {
						t.Errorf("task %d has other outputs", i)
					}
				}
				readable := 0
				for _, p := range s.peers {
					if p != owner && len(p.stores(t, input[1000:1064], "")) > 0 {
						readable++
					}
				}
				if readable > 0 == closed {
					t.Errorf("the input can be read in the stores of %d other nodes", readable)
				}
				sub = owner.copyJob(t, lab, input, true)
				sub.Key = newKey()
				if _, err := owner.Submit(t.Context(), sub); err == nil {
					t.Error("files that are not sealed under the job's key were taken")
				}
			})
		})
	}
}
