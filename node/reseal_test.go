package node

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// copyStages is a job of two stages: four tasks copy the input, and one task for each of these copies the copy.
const copyStages = `name: copies
verify: off
stages:
  make:
    module: make.wasm
    work: 10s
    sweep: {n: {from: 1, to: 4}}
    files: [input.bin]
    outputs: [copy, tail]
  join:
    module: join.wasm
    work: 10s
    each: make
    files: ["{{.make}}/copy"]
    outputs: [copy, tail]
`

// stagedCopy is such a job with a key of its own, which takes results of others; join is the second stage's program.
func (p *peer) stagedCopy(t *testing.T, in overlay.ID, data []byte, join string) Submission {
	t.Helper()
	f, err := task.ParseFile("copies.yaml", []byte(copyStages))
	if err != nil {
		t.Fatal(err)
	}
	sub := Submission{File: f, Overlay: string(in), Reuse: true}
	if sub.Key, err = p.SealingKey(t.Context(), string(in)); err != nil {
		t.Fatal(err)
	}
	for i, program := range []string{"make", join} {
		if f.Stages[i].Module, err = p.Blocks().ImportBytes(t.Context(), []byte(program)); err != nil {
			t.Fatal(err)
		}
	}
	sealer, err := seal.New(sub.Key)
	if err != nil {
		t.Fatal(err)
	}
	c, size, err := p.ImportSealed(t.Context(), sealer, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	sub.Module, sub.Inputs = f.Stages[0].Module, map[string]task.FileRef{"input.bin": {CID: c, Size: size}}
	return sub
}

// startedOf counts the tasks of a job that any peer started.
func (s *swarm) startedOf(id task.JobID) (n int) {
	for _, p := range s.peers {
		for of, times := range p.runner.started() {
			if of.Job == id {
				n += times
			}
		}
	}
	return n
}

// A job that is handed in again in a closed overlay has another key, and takes all results: no task runs. Its inputs and
// outputs are sealed under its own key: they have other CIDs, and the earlier key does not open them. That also holds
// after a restart when the earlier job's inputs are gone, for what was taken itself, and for a later stage that reads
// taken results on other nodes.
func TestReusedResultsAreSealedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input, after := noise("an input", 600_000), noise("an output", 64)
		s, lab := sealedSwarm(t, OverlayRules{Name: "lab", Admission: AdmitInvited}, after)
		owner := s.peers[1]
		check := func(id task.JobID, started int) task.Record {
			t.Helper()
			rec, _, err := owner.Submitted(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range owner.finish(id, 8) {
				want := append(bytes.Clone(input), after...)
				if i >= 4 {
					want = append(want, after...)
				}
				if got := owner.outputsOf(t, rec, r.Results[0].Outputs); !bytes.Equal(got[0], want) || !bytes.Equal(got[1], after) {
					t.Errorf("task %d has other outputs", i)
				}
			}
			if n := s.startedOf(id); n != started {
				t.Errorf("%d tasks were started, want %d", n, started)
			}
			return rec
		}
		submit := func(join string) task.JobID {
			t.Helper()
			id, err := owner.Submit(t.Context(), owner.stagedCopy(t, lab, input, join))
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		first := submit("join")
		old := check(first, 8)
		second := submit("join")
		now := check(second, 0)
		owner.apart(t, first, old, second, now)

		owner.crash()
		owner.start()
		s.gatherIn(lab, s.peers...)
		_, spec, err := owner.Submitted(t.Context(), first)
		if err == nil { // as some time after the job's end
			err = owner.Blocks().Delete(t.Context(), spec.Inputs[0].CID)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Forget(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		third := submit("join")
		owner.apart(t, second, now, third, check(third, 0))
		changed := submit("another join")
		check(changed, 4)
		again, err := owner.RunFailed(t.Context(), changed, "", "")
		if !errors.Is(err, ErrNoneFailed) {
			t.Errorf("running none again: %s, %v", again, err)
		}
		if kept, err := owner.store.keys(t.Context(), plainPrefix); err != nil || len(kept) != 4 {
			t.Errorf("%d jobs' plain files are kept, %v", len(kept), err)
		}
		if err := collect(t.Context(), owner.Node, collectAge); err != nil {
			t.Fatal(err)
		}
		if kept, err := owner.store.keys(t.Context(), plainPrefix); err != nil || len(kept) != 3 {
			t.Errorf("after a collection %d jobs' plain files are kept, %v", len(kept), err)
		}
	})
}

// apart reports two jobs of equal files that have a key, or a sealed file, in common, or whose key opens the other's.
func (p *peer) apart(t *testing.T, a task.JobID, of task.Record, b task.JobID, other task.Record) {
	t.Helper()
	if bytes.Equal(of.Key, other.Key) || len(other.Key) != task.KeySize {
		t.Fatal("two jobs have one key, or none")
	}
	wrong, err := seal.New(of.Key)
	if err != nil {
		t.Fatal(err)
	}
	files := func(id task.JobID) (out []task.Output) {
		_, spec, err := p.Submitted(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range spec.Inputs {
			out = append(out, task.Output{Name: in.Name, CID: in.CID, Size: in.Size})
		}
		for _, r := range p.finish(id, 8) {
			out = append(out, r.Results[0].Outputs...)
		}
		return out
	}
	known := files(a)
	for _, f := range files(b) {
		if slices.ContainsFunc(known, func(o task.Output) bool { return o.CID == f.CID }) {
			t.Errorf("%s is sealed alike in two jobs", f.Name)
		}
		data := f.Inline
		if len(data) == 0 {
			r, _, err := p.Blocks().Open(t.Context(), f.CID, blocks.Exactly(f.Size))
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
			r.Close()
		}
		if _, err := wrong.OpenFile(data); !errors.Is(err, seal.ErrSealed) {
			t.Errorf("another job's key opens %s: %v", f.Name, err)
		}
	}
}

// A job that is submitted does not wait for its results to be sealed again without end: what is left runs.
func TestReuseEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lab := sealedSwarm(t, OverlayRules{Name: "lab", Admission: AdmitInvited}, noise("an output", 64))
		owner := s.peers[1]
		input := noise("an input", 600_000)
		first, err := owner.Submit(t.Context(), owner.stagedCopy(t, lab, input, "join"))
		if err != nil {
			t.Fatal(err)
		}
		owner.finish(first, 8)
		sub := owner.stagedCopy(t, lab, input, "join")
		room := owner.content.room
		room.turn = make(chan struct{}, 1) // whoever makes room waits for it in vain
		for most := int64(0); room.budget.Lacking(200_000, workShare) > 0 || most == 0; most += 50_000 {
			room.budget.SetMost(most + 1)
		}
		before := time.Now()
		id, err := owner.Submit(t.Context(), sub)
		if took := time.Since(before); err != nil || took > mostReuse+time.Minute {
			t.Fatalf("submitted after %v, %v", took, err)
		}
		if taken, err := owner.Job(t.Context(), id, 0, 0); err != nil || len(taken.Taken) > 0 {
			t.Errorf("%v are taken, %v", taken.Taken, err)
		}
	})
}

// A key is for one job: a second one with it is refused.
func TestKeyIsForOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lab := sealedSwarm(t, OverlayRules{Name: "lab", Admission: AdmitInvited}, noise("an output", 64))
		owner := s.peers[1]
		sub := owner.copyJob(t, lab, noise("an input", 1000), false)
		if _, err := owner.Submit(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		if _, err := owner.Submit(t.Context(), sub); !errors.Is(err, task.ErrKey) || !strings.Contains(err.Error(), "key of job") {
			t.Errorf("a second job with the key: %v", err)
		}
	})
}

// What a plan would take is what a job takes that is handed in then. The plan has the inputs' plain names and no key.
func TestPlanOfSealedJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input := noise("an input", 300_000)
		s, lab := sealedSwarm(t, OverlayRules{Name: "lab", Admission: AdmitInvited}, noise("an output", 64))
		owner := s.peers[1]
		sub := owner.stagedCopy(t, lab, input, "join")
		id, err := owner.Submit(t.Context(), sub)
		if err != nil {
			t.Fatal(err)
		}
		owner.finish(id, 8)
		c, err := blocks.CIDOfBytes(input)
		if err != nil {
			t.Fatal(err)
		}
		for name, tt := range map[string]struct {
			join string
			ref  task.FileRef
			want []uint64
		}{
			"the same":        {"join", task.FileRef{CID: c, Size: int64(len(input))}, []uint64{4, 4}},
			"another program": {"another", task.FileRef{CID: c, Size: int64(len(input))}, []uint64{4, 0}},
			"another input":   {"join", task.FileRef{CID: task.RawCID(nil), Size: int64(len(input))}, []uint64{0, 0}},
		} {
			plan := owner.stagedCopy(t, lab, input, tt.join)
			plan.Key, plan.Inputs = nil, map[string]task.FileRef{"input.bin": tt.ref}
			got, err := owner.Takeover(t.Context(), plan)
			if err != nil || !slices.Equal(got.Stages, tt.want) {
				t.Errorf("%s: %v, %v, want %v", name, got.Stages, err, tt.want)
			}
		}
	})
}

// A job whose failed tasks run again has another key, and its inputs are sealed under it.
func TestRunFailedSealsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		input := noise("an input", 300_000)
		s, lab := sealedSwarm(t, OverlayRules{Name: "lab", Admission: AdmitInvited}, noise("an output", 64))
		owner := s.peers[1]
		id, err := owner.Submit(t.Context(), owner.copyJob(t, lab, input, false))
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Cancel(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
		s.until("it is over", func() bool {
			st, err := owner.ownJob(t.Context(), id, 0, 0)
			return err == nil && st.Final
		})
		again, err := owner.RunFailed(t.Context(), id, "", "")
		if err != nil {
			t.Fatal(err)
		}
		old, was, _ := owner.Submitted(t.Context(), id)
		rec, spec, err := owner.Submitted(t.Context(), again)
		if err != nil || bytes.Equal(rec.Key, old.Key) || spec.CheckKey(rec.Key) != nil || spec.Inputs[0].CID == was.Inputs[0].CID {
			t.Fatalf("the second job has the first one's key or input, %v", err)
		}
		for i, r := range owner.finish(again, int(spec.Tasks())) {
			if got := owner.outputsOf(t, rec, r.Results[0].Outputs); !bytes.HasPrefix(got[0], input) {
				t.Errorf("task %d has other outputs", i)
			}
		}
	})
}

// A resealer that cannot read an output leaves the result out, and names of what is read are those of the new outputs.
func TestResealer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		from, _ := seal.New(bytes.Repeat([]byte{1}, seal.KeyBytes))
		to, _ := seal.New(bytes.Repeat([]byte{2}, seal.KeyBytes))
		f, err := task.ParseFile("copies.yaml", []byte(copyStages))
		if err != nil {
			t.Fatal(err)
		}
		spec := &task.Job{Sealed: []byte("x")}
		for i := range f.Stages {
			f.Stages[i].Module = task.RawCID([]byte{byte(i)})
			spec.Stages = append(spec.Stages, f.Stages[i].Stage)
		}
		big := noise("big", 600_000)
		cid, size, err := p.ImportSealed(t.Context(), from, bytes.NewReader(big))
		if err != nil {
			t.Fatal(err)
		}
		small, empty := from.SealFile([]byte("small")), from.SealFile(nil)
		outputs := []task.Output{{Name: "copy", CID: cid, Size: size},
			{Name: "empty", CID: task.RawCID(empty), Size: int64(len(empty)), Inline: empty},
			{Name: "tail", CID: task.RawCID(small), Size: int64(len(small)), Inline: small}}
		end := func(i uint64, reads []byte, outputs []task.Output) *message.Reused {
			res := task.Result{Outcome: task.Completed, Outputs: outputs, Reads: reads}
			return &message.Reused{Of: task.TaskID{Job: "old", Index: i},
				End: message.TaskSummary{Index: i, Results: []task.Result{res, res}}}
		}
		r := newResealer(t.Context(), p.content, spec, to, map[task.JobID]*seal.Sealer{"old": from})
		got := end(0, nil, outputs)
		if err := r.take(got); err != nil {
			t.Fatal(err)
		}
		rec := task.Record{Key: bytes.Repeat([]byte{2}, seal.KeyBytes)}
		made := got.End.Results[0].Outputs
		for i, want := range [][]byte{big, {}, []byte("small")} {
			if opened := p.outputsOf(t, rec, made)[i]; !bytes.Equal(opened, want) || made[i].CID == outputs[i].CID ||
				got.End.Results[1].Outputs[i].CID != made[i].CID || made[i].Size != outputs[i].Size {
				t.Errorf("%s is %d bytes, sealed as %+v", made[i].Name, len(opened), made[i])
			}
		}
		if outputs[0].CID != cid || got.End.AsSigned(1).Outputs[0].CID != cid {
			t.Error("the earlier job's result was changed, or is not kept")
		}
		reader := end(4, []byte("of the old files"), outputs)
		if err := r.take(reader); err != nil {
			t.Fatal(err)
		}
		want, _ := task.NameFiles([]task.Output{{Name: "make/copy", CID: made[0].CID}})
		if !bytes.Equal(reader.End.Results[0].Reads, want[:]) || string(reader.End.AsSigned(0).Reads) != "of the old files" {
			t.Error("the names of what was read are others")
		}
		for name, bad := range map[string]task.Output{
			"gone":           {Name: "copy", CID: task.RawCID([]byte("gone")), Size: 1000},
			"another key's":  {Name: "copy", CID: made[0].CID, Size: made[0].Size},
			"no sealed size": {Name: "copy", CID: cid, Size: 5},
			"empty":          {Name: "copy", CID: task.RawCID(nil)},
		} {
			if err := r.take(end(1, nil, []task.Output{bad})); err == nil {
				t.Errorf("an output that is %s is taken", name)
			}
		}
		r.done()
		if held := p.content.pins.list(); len(held) > 0 {
			t.Errorf("%v are held", held)
		}
	})
}

// Files keep their plain names whatever they are sealed under, and a wrong key names none.
func TestPlainNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		for _, n := range []int{0, 1, 1000, 262_128, 262_144, 700_000} {
			data := noise("a file", n+32)[:n]
			want, err := blocks.CIDOf(t.Context(), bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			for seed := range byte(3) {
				var sealer *seal.Sealer
				if seed > 0 {
					sealer, _ = seal.New(bytes.Repeat([]byte{seed}, seal.KeyBytes))
				}
				c, size, err := p.ImportSealed(t.Context(), sealer, bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				for _, cached := range []bool{true, false} {
					if !cached {
						p.content.plains.of = nil
					}
					if ref, err := p.content.plain(t.Context(), sealer).Of(task.Output{CID: c, Size: size}); err != nil ||
						ref.CID != want || ref.Size != int64(n) {
						t.Errorf("%d bytes under key %d: %+v, %v", n, seed, ref, err)
					}
				}
				other, _ := seal.New(bytes.Repeat([]byte{9}, seal.KeyBytes))
				p.content.plains.of = nil
				if ref, err := p.content.plain(t.Context(), other).Of(task.Output{CID: c, Size: size}); err == nil {
					t.Errorf("%d bytes under key %d have the name %+v under another", n, seed, ref)
				}
			}
		}
		failing := io.MultiReader(bytes.NewReader(noise("half", 400_000)), failingReader{})
		sealer, _ := seal.New(bytes.Repeat([]byte{1}, seal.KeyBytes))
		if _, _, err := p.ImportSealed(t.Context(), sealer, failing); !errors.Is(err, os.ErrClosed) {
			t.Errorf("a file that cannot be read: %v", err)
		}
	})
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, os.ErrClosed }
