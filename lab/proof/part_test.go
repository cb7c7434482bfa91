package proof

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/blocks/seal"
	"godwit/internal/noop"
	"godwit/sandbox"
	"godwit/task"
)

// A run is one of a task that has parts: what its worker signs, and what it keeps.
type run struct {
	rec      task.Record
	of       []task.Boundary
	states   [][]byte // manifests, one for each boundary
	pages    *sandbox.MemoryStore
	honest   task.Result // not signed
	contents contents
}

// Tree implements Source: of this test a tree is named by the hash of its manifest.
func (c contents) Tree(_ context.Context, id task.CID) (map[string]task.CID, error) {
	b, ok := c[id]
	if !ok {
		return nil, errors.New("no such tree")
	}
	out := map[string]task.CID{manifestName: id}
	pages, _ := sandbox.PagesOf(b) // a hostile state has none
	for _, h := range pages {
		out[hex.EncodeToString(h[:])] = task.CID(hex.EncodeToString(h[:]))
	}
	return out, nil
}

// ran runs a task to its end, and keeps its states.
func (c *Checker) ran(t *testing.T, index uint64) *run {
	t.Helper()
	return c.ranAs(t, index, func(*task.Job) {})
}

// ranAs is ran of a job that was changed before it was signed.
func (c *Checker) ranAs(t *testing.T, index uint64, change func(*task.Job)) *run {
	t.Helper()
	job := &task.Job{Name: "write", Overlay: "commons", Module: task.RawCID(noop.Writing),
		Outputs: []string{task.Stdout}, Memory: 1 << 20, Replicas: 1, Submitted: task.At(time.Unix(1e9, 0)),
		Verify: &task.Verify{Audits: 1e6, Spacing: 1 << 22, Draw: make([]byte, 32)},
		Nonce:  make([]byte, task.NonceSize), Sweep: task.Sweep{Repeat: 5}}
	change(job)
	rec, err := task.SignJob(job, keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := rec.Open()
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/module"
	if err := os.WriteFile(path, noop.Writing, 0o600); err != nil {
		t.Fatal(err)
	}
	inv, err := spec.Expand(index)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{rec: rec, pages: &sandbox.MemoryStore{}, contents: contents{spec.Module: noop.Writing}}
	kept := map[task.Boundary][]byte{}
	tk := sandbox.TaskOf(spec, task.TaskID{Job: rec.ID(), Index: index}, inv, path, nil)
	tk.Pages = r.pages
	tk.OnState = func(at task.Boundary, manifest []byte) bool { kept[at] = manifest; return true }
	rep, err := c.Compiled.Run(t.Context(), tk)
	if err != nil {
		t.Fatal(err)
	}
	r.of = rep.Trail
	for _, b := range r.of {
		r.states = append(r.states, kept[b])
	}
	r.honest = task.Result{Task: task.TaskID{Job: rec.ID(), Index: index}, Outcome: rep.Outcome, Trail: rep.SignedTrail()}
	r.honest.Outputs = []task.Output{{Name: task.Stdout, CID: task.RawCID(nil)}}
	if n := r.honest.Trail.Intervals(spec.Spacing()); n < task.MinIntervals {
		t.Fatalf("%d parts: %+v", n, r.honest.Trail)
	}
	return r
}

// keep has a state be among what a file can be made of.
func (r *run) keep(t *testing.T, manifest []byte, pages *sandbox.MemoryStore) task.CID {
	t.Helper()
	id := task.RawCID(manifest)
	r.contents[id] = manifest
	hashes, err := sandbox.PagesOf(manifest)
	if err != nil {
		return id // hostile
	}
	for _, h := range hashes {
		if r.contents[task.CID(hex.EncodeToString(h[:]))], err = pages.Get(h); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// A told is what a worker signs in place of what came of its run, and the interval that a proof is of.
type told struct {
	of     []task.Boundary
	stdout string
	began  []task.Link
	part   int
	state  task.CID // before it
}

// file is a proof of that.
func (r *run) file(t *testing.T, is told) []byte {
	t.Helper()
	return r.written(t, r.statement(t, is))
}

func (r *run) statement(t *testing.T, is told) Statement {
	t.Helper()
	res := r.honest
	trail := *res.Trail
	res.Trail, res.Signature = &trail, nil
	trail.Boundaries, trail.Root, trail.Began = uint32(len(is.of)), task.TrailRoot(is.of), is.began
	if b := []byte(is.stdout); len(b) > 0 {
		res.Outputs = []task.Output{{Name: task.Stdout, CID: task.RawCID(b), Size: int64(len(b)), Inline: b}}
	}
	if err := res.Sign(keyOf(2)); err != nil {
		t.Fatal(err)
	}
	kept := &task.KeptStates{}
	for i, b := range is.of {
		kept.States = append(kept.States, task.KeptState{Fuel: b.Fuel, Hash: b.State[:]})
		if i == is.part-1 {
			kept.States[i].CID = is.state
		}
	}
	return Statement{Record: r.rec, Result: res, Part: trail.ProveIntervals(0, is.part, is.part, kept)}
}

func (r *run) written(t *testing.T, s Statement) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(t.Context(), &b, s, r.contents); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// changed is a state with a page of another in its memory: a run goes on from it as from any.
func (r *run) changed(t *testing.T, k int) []byte {
	t.Helper()
	from, to := pagesOf(t, r.states[k])[0], pagesOf(t, r.states[k+2])[0]
	b := bytes.Replace(r.states[k], from[:], to[:], 1)
	sum := sha256.Sum256(b[:len(b)-sha256.Size])
	return append(b[:len(b)-sha256.Size], sum[:]...)
}

// with is a trail with some states changed.
func with(of []task.Boundary, change func(k int, b *task.Boundary)) []task.Boundary {
	out := slices.Clone(of)
	for k := range out {
		change(k, &out[k])
	}
	return out
}

// One part is run again from the state before it, be that right or wrong: what matters is that its
// worker signed both ends.
func TestPart(t *testing.T) {
	c := checker(t)
	r, other := c.ran(t, 3), c.ran(t, 2)
	changed := r.changed(t, 4)
	n := len(r.of)
	falsify := func(from int) []task.Boundary {
		return with(r.of, func(k int, b *task.Boundary) {
			if k >= from {
				b.State[0] ^= 1
			}
		})
	}
	at4 := func(state []byte) []task.Boundary {
		return with(r.of, func(k int, b *task.Boundary) {
			if k == 4 {
				b.State = sha256.Sum256(state)
			}
		})
	}
	hostile := append([]byte("GWCK\x01"), make([]byte, 1<<20)...) // no manifest, though its hash is signed
	own := func(k int) task.CID { return r.keep(t, r.states[k], r.pages) }
	for name, tt := range map[string]struct {
		told
		verdict Verdict
		by      task.PeerID
		why     string // of the finding, or of the error
	}{
		"right":           {told{of: r.of, part: 5, state: own(4)}, Nothing, "", "comes here to what was signed"},
		"a wrong state":   {told{of: falsify(5), part: 5, state: own(4)}, Proven, peerOf(2), "another state here"},
		"from the first":  {told{of: falsify(0)}, Proven, peerOf(2), "the part from fuel 0 to"},
		"the first right": {told{of: falsify(1)}, Nothing, "", "what was signed"},
		"a wrong end": {told{of: r.of, stdout: "lie", part: n, state: own(n - 1)}, Proven, peerOf(2),
			"stdout has 0 bytes here, 3 by the result"},
		"a right end":              {told{of: r.of, part: n, state: own(n - 1)}, Nothing, "", "what was signed"},
		"where its memory changed": {told{of: at4(changed), part: 4, state: own(3)}, Proven, peerOf(2), "another state here"},
		"after its memory changed": {told{of: at4(changed), part: 5, state: r.keep(t, changed, r.pages)}, Nothing, "",
			"what was signed"},
		"wrong once more": {told{of: with(at4(changed), func(k int, b *task.Boundary) { b.State[1] ^= byte(k / 5) }), part: 5,
			state: r.keep(t, changed, r.pages)}, Proven, peerOf(2), "another state here"},
		"from what is no state": {told{of: at4(hostile), part: 5, state: r.keep(t, hostile, nil)}, "", "", "checkpoint"},
		"from another task's": {told{of: at4(other.states[4]), part: 5, state: r.keep(t, other.states[4], other.pages)},
			"", "", "another name"},
	} {
		f, err := c.checked(t, r.file(t, tt.told))
		said := f.Why
		if err != nil {
			said = err.Error()
		}
		if (err != nil) != (tt.verdict == "") || f.Verdict != cmp.Or(tt.verdict, Open) && tt.verdict != "" ||
			f.By != tt.by || !strings.Contains(said, tt.why) || tt.verdict != "" && f.Part == nil {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// Of a run that went on from another's state each answers for what it ran from the one it was given.
func TestPartOfChain(t *testing.T) {
	c := checker(t)
	r := c.ran(t, 3)
	state := func(k int, flip byte) *task.Trail {
		h := r.of[k].State
		h[0] ^= flip
		return &task.Trail{Fuel: r.of[k].Fuel, Last: h[:]}
	}
	chain := func(flip byte) []task.Link {
		l := link(t, &r.rec, 4, state(2, 0), nil)
		l[0].CID = ""
		return link(t, &r.rec, 5, state(5, flip), l)
	}
	points := func(s *Statement, first, last uint32) { s.Part.First, s.Part.Last = first, last }
	for name, tt := range map[string]struct {
		flip        byte
		first, last uint32
		verdict     Verdict
		by          task.PeerID
	}{
		"the first left a right state":          {0, 0, 1, Nothing, ""},
		"the second left a wrong one":           {1, 1, 2, Proven, peerOf(5)},
		"who went on from there signed another": {0, 2, 3, Proven, peerOf(2)},
	} {
		lies := with(r.of[6:], func(_ int, b *task.Boundary) { b.State[3] ^= 1 })
		s := r.statement(t, told{of: lies, began: chain(tt.flip)})
		points(&s, tt.first, tt.last)
		if tt.first < 2 {
			s.Part.Kept = nil
		}
		file := r.written(t, s)
		if tt.first > 0 { // nobody keeps blocks of it: it comes as files do
			file = withState(t, file, r, []int{0, 2, 5}[tt.first])
		}
		if f, err := c.checked(t, file); err != nil || f.Verdict != tt.verdict || f.By != tt.by {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	s := r.statement(t, told{of: r.of[6:], began: chain(0)})
	points(&s, 0, 2)
	if f, err := c.checked(t, r.written(t, s)); err == nil || !strings.Contains(err.Error(), "several workers") {
		t.Errorf("a part of two workers: %+v, %v", f, err)
	}
}

// withState adds a state to a file.
func withState(t *testing.T, file []byte, r *run, k int) []byte {
	t.Helper()
	r.keep(t, r.states[k], r.pages)
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range z.File {
		if err := w.Copy(e); err != nil {
			t.Fatal(err)
		}
	}
	err = addState(t.Context(), w, task.RawCID(r.states[k]), r.contents)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is no proof of a part is refused before anything runs.
func TestNoPart(t *testing.T) {
	ran := checker(t)
	r := ran.ran(t, 3)
	c := &Checker{} // nothing can run
	is := told{of: r.of, part: 5, state: r.keep(t, r.states[4], r.pages)}
	good := r.file(t, is)
	statement := func(change func(s *Statement)) []byte {
		s := r.statement(t, is)
		s.Version = FileVersion
		change(&s)
		b, err := task.Encode(&s)
		if err != nil {
			t.Fatal(err)
		}
		return repacked(t, good, func(name string, old []byte) []byte {
			if name == statementName {
				return b
			}
			return old
		})
	}
	manifest := func(b []byte) []byte {
		return repacked(t, good, func(name string, old []byte) []byte {
			if name == statePrefix+manifestName {
				return b
			}
			return old
		})
	}
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"no state":        {manifest(nil), "state/manifest is missing"},
		"another state":   {manifest(r.states[3]), "not the one that its worker signed"},
		"a million pages": {manifest(bytes.Repeat([]byte{0x82, 1, 0x58, 32}, 1e6)), "not the one that its worker signed"},
		"another fuel":    {statement(func(s *Statement) { s.Part.Kept[2].Fuel++ }), "not those that the worker signed"},
		"another root": {statement(func(s *Statement) { s.Part.Kept[7].Hash = bytes.Repeat([]byte{1}, 32) }),
			"not those that the worker signed"},
		"a short hash":    {statement(func(s *Statement) { s.Part.Kept[7].Hash = []byte{1} }), "hash of 1 bytes"},
		"a boundary less": {statement(func(s *Statement) { s.Part.Kept = s.Part.Kept[1:] }), "not those that the worker"},
		"many more": {statement(func(s *Statement) { s.Part.Kept = make([]task.KeptState, 33) }),
			"33"},
		"no part":      {statement(func(s *Statement) { s.Part.Last = s.Part.First }), "from point 5 to 5"},
		"backwards":    {statement(func(s *Statement) { s.Part.First = 9 }), "from point 9 to 6"},
		"beyond":       {statement(func(s *Statement) { s.Part.Last = 1e9 }), "to 1000000000"},
		"another task": {statement(func(s *Statement) { s.Result.Task.Index = 2 }), "signature"},
		"no trail": {statement(func(s *Statement) {
			s.Result.Trail = nil
			if err := s.Result.Sign(keyOf(2)); err != nil {
				t.Fatal(err)
			}
		}), "no trail"},
		"a file of before":      {statement(func(s *Statement) { s.Version = wholeVersion }), "of a part: true"},
		"a part without a part": {statement(func(s *Statement) { s.Part = nil }), "of a part: false"},
	} {
		if f, err := c.checked(t, tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	missing := repacked(t, good, func(name string, old []byte) []byte {
		if strings.HasPrefix(name, statePrefix) && name != statePrefix+manifestName {
			return nil
		}
		return old
	})
	if f, err := ran.checked(t, missing); err == nil || f.By != "" {
		t.Errorf("without its pages: %+v, %v", f, err)
	}
}

// A vault is what a file can be made of where the job is sealed.
type vault struct {
	contents
	sealer *seal.Sealer
}

func (v vault) Tree(ctx context.Context, id task.CID) (map[string]task.CID, error) {
	plain, err := v.contents.Tree(ctx, id)
	out := map[string]task.CID{}
	for name, c := range plain {
		if h, err := hex.DecodeString(name); err == nil {
			name = v.sealer.Name([32]byte(h))
		}
		out[name] = c
	}
	return out, err
}

func (v vault) OpenFile(ctx context.Context, id task.CID) (io.ReadCloser, error) {
	b := v.contents[id]
	switch {
	case bytes.HasPrefix(b, []byte("GWCK")):
		b = v.sealer.SealFile(b)
	case id != task.RawCID(noop.Writing):
		b = v.sealer.Seal(b)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Of a sealed job the state in a file is sealed, too: who has the key can check it, and nobody else.
func TestPartOfSealedJob(t *testing.T) {
	c := checker(t)
	key := bytes.Repeat([]byte{7}, task.KeySize)
	r := c.ranAs(t, 3, func(j *task.Job) { j.Sealed = task.KeyCommitment(key) })
	sealer, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	s := r.statement(t, told{of: with(r.of, func(k int, b *task.Boundary) { b.State[0] ^= byte(k / 5) }), part: 5,
		state: r.keep(t, r.states[4], r.pages)})
	s.Record.Key = key
	var file bytes.Buffer
	if err := Write(t.Context(), &file, s, vault{r.contents, sealer}); err != nil {
		t.Fatal(err)
	}
	if f, err := c.checked(t, file.Bytes()); err != nil || f.Verdict != Proven || f.By != peerOf(2) {
		t.Errorf("%+v, %v", f, err)
	}
	page, err := r.pages.Get(pagesOf(t, r.states[4])[0])
	if err != nil || bytes.Contains(file.Bytes(), page) || bytes.Contains(file.Bytes(), r.states[4][:64]) {
		t.Errorf("the state can be read in the file, %v", err)
	}
	s.Record.Key = nil
	file.Reset()
	if err := Write(t.Context(), &file, s, vault{r.contents, sealer}); err == nil {
		t.Error("a file without the key is written")
	}
}

func pagesOf(t *testing.T, state []byte) [][32]byte {
	t.Helper()
	p, err := sandbox.PagesOf(state)
	if err != nil || len(p) == 0 {
		t.Fatal(p, err)
	}
	return p
}
