package proof

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"godwit/internal/noop"
	"godwit/sandbox"
	"godwit/task"
)

// TestMain lets the test binary be the sandbox of its tasks.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "sandbox" {
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func peerOf(seed byte) task.PeerID { return task.PeerIDOf(keyOf(seed).Public().(ed25519.PublicKey)) }

// record is of a job of five tasks that count, and print nothing.
func record(t *testing.T) task.Record {
	t.Helper()
	rec, err := task.SignJob(&task.Job{Name: "count", Overlay: "commons", Module: task.RawCID(noop.Counting),
		Outputs: []string{task.Stdout}, Memory: 1 << 20, Replicas: 1, Submitted: task.At(time.Unix(1e9, 0)),
		Nonce: make([]byte, task.NonceSize), Sweep: task.Sweep{Repeat: 5}}, keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// contents are files by their CIDs.
type contents map[task.CID][]byte

func (c contents) OpenFile(_ context.Context, id task.CID) (io.ReadCloser, error) {
	b, ok := c[id]
	if !ok {
		return nil, errors.New("not found")
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// result is what worker 2 signs of task 3, having printed that, with a trail.
func result(t *testing.T, rec *task.Record, stdout string, trail *task.Trail) task.Result {
	t.Helper()
	r := task.Result{Task: task.TaskID{Job: rec.ID(), Index: 3}, Outcome: task.Completed, Trail: trail,
		Outputs: []task.Output{{Name: task.Stdout, CID: task.RawCID([]byte(stdout)), Size: int64(len(stdout)),
			Inline: []byte(stdout)}}}
	if stdout == "" {
		r.Outputs[0].Inline = nil
	}
	if err := r.Sign(keyOf(2)); err != nil {
		t.Fatal(err)
	}
	return r
}

// written is a file with that result.
func written(t *testing.T, rec *task.Record, r task.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	from := contents{task.RawCID(noop.Counting): noop.Counting}
	if err := Write(t.Context(), &b, Statement{Record: *rec, Result: r}, from); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func checker(t *testing.T) *Checker {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	pool := func(interpreted bool) *sandbox.Pool {
		const room = 1 << 40 // a binary with the race detector takes much
		p := sandbox.NewPool(sandbox.Config{Command: []string{exe, "sandbox"}, ScratchDir: t.TempDir(), CacheDir: cache,
			HostBytes: room, Interpret: func() bool { return interpreted }, KeepPriority: func() bool { return true }})
		t.Cleanup(func() { p.Close() })
		return p
	}
	return &Checker{Compiled: pool(false), Interpreted: pool(true)}
}

func (c *Checker) checked(t *testing.T, file []byte) (Finding, error) {
	t.Helper()
	c.Dir = t.TempDir()
	return c.Check(t.Context(), bytes.NewReader(file), int64(len(file)))
}

// stateAt is the fuel and the state at which task 3 stops.
func (c *Checker) stateAt(t *testing.T, fuel uint64) *task.Trail {
	t.Helper()
	path := t.TempDir() + "/module"
	if err := os.WriteFile(path, noop.Counting, 0o600); err != nil {
		t.Fatal(err)
	}
	rec := record(t)
	spec, err := rec.Open()
	if err != nil {
		t.Fatal(err)
	}
	inv, err := spec.Expand(3)
	if err != nil {
		t.Fatal(err)
	}
	tk := sandbox.TaskOf(spec, task.TaskID{Job: rec.ID(), Index: 3}, inv, path, nil)
	tk.FreezeAtFuel, tk.Pages = fuel, sandbox.Unkept{}
	rep, err := c.Compiled.Run(t.Context(), tk)
	if err != nil {
		t.Fatal(err)
	}
	return rep.StoppedTrail()
}

// link is a state that a worker left, whose own run had that chain.
func link(t *testing.T, rec *task.Record, worker byte, state *task.Trail, chain []task.Link) []task.Link {
	t.Helper()
	id := task.TaskID{Job: rec.ID(), Index: 3}
	receipt, err := task.NewReceipt(keyOf(9), peerOf(9), id, peerOf(worker), task.Receipt{Epoch: 1, Issued: 1})
	if err != nil {
		t.Fatal(err)
	}
	v, err := task.Vouch(keyOf(worker), receipt, task.State{Task: id, Fuel: state.Fuel, Hash: state.Last,
		Prior: task.PriorOf(chain)})
	if err != nil {
		t.Fatal(err)
	}
	return task.ChainOn(task.Link{Fuel: state.Fuel, Voucher: *v}, chain)
}

// A wrong result proves its worker wrong, or who left a state that is wrong; a right one nothing.
func TestCheck(t *testing.T) {
	c, rec := checker(t), record(t)
	a, b := c.stateAt(t, 1000), c.stateAt(t, 2_000_000)
	bad := &task.Trail{Pass: b.Pass, Fuel: b.Fuel, Last: bytes.Repeat([]byte{1}, 32)}
	never := &task.Trail{Pass: b.Pass, Fuel: b.Fuel + 1, Last: b.Last}
	whole := func(began []task.Link) *task.Trail { return &task.Trail{Pass: b.Pass, Fuel: 1 << 30, Began: began} }
	good := link(t, &rec, 5, b, link(t, &rec, 4, a, nil))
	for name, tt := range map[string]struct {
		stdout  string
		trail   *task.Trail
		verdict Verdict
		by      task.PeerID
		why     string
	}{
		"right":            {"", nil, Nothing, "", "the task gives here what was signed"},
		"wrong":            {"lie", nil, Proven, peerOf(2), "stdout has 0 bytes here, 3 by the result"},
		"from good states": {"lie", whole(good), Proven, peerOf(2), "the states that it went on from are right"},
		"from a bad state": {"lie", whole(link(t, &rec, 5, bad, link(t, &rec, 4, a, nil))), Proven, peerOf(5),
			"is another here"},
		"before a bad state": {"lie", whole(link(t, &rec, 5, b, link(t, &rec, 4, bad, nil))), Proven, peerOf(4),
			"is another here"},
		"at no safe point": {"lie", whole(link(t, &rec, 5, never, nil)), Proven, peerOf(5), "is another here"},
		"of another pass": {"lie", &task.Trail{Pass: b.Pass + 1, Fuel: 1 << 30, Began: good}, Open, "",
			"states are hashed in another way here"},
	} {
		f, err := c.checked(t, written(t, &rec, result(t, &rec, tt.stdout, tt.trail)))
		if err != nil || f.Verdict != tt.verdict || f.By != tt.by || !strings.Contains(f.Why, tt.why) ||
			f.Signed != peerOf(2) || f.Task != 3 || f.Job != rec.ID() || f.Name != "count" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// repacked is a file with some of its entries changed, or left out where they become nil.
func repacked(t *testing.T, file []byte, change func(name string, b []byte) []byte) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range z.File {
		r, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if b = change(e.Name, b); b == nil {
			continue
		}
		f, err := w.Create(e.Name)
		if err == nil {
			_, err = f.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is no proof is refused before anything runs.
func TestNoProof(t *testing.T) {
	rec := record(t)
	c := &Checker{} // nothing can run
	good := written(t, &rec, result(t, &rec, "lie", nil))
	statement := func(change func(s *Statement)) []byte {
		s := Statement{Version: wholeVersion, Record: rec, Result: result(t, &rec, "lie", nil)}
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
	entry := func(which string, b []byte) []byte {
		return repacked(t, good, func(name string, old []byte) []byte {
			if name == which {
				return b
			}
			return old
		})
	}
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":             {nil, "it is no proof"},
		"no archive":          {[]byte("lie"), "it is no proof"},
		"no statement":        {entry(statementName, nil), "there is no statement.cbor in it"},
		"garbage":             {entry(statementName, []byte("lie")), "reading statement.cbor"},
		"a bomb":              {entry(statementName, make([]byte, maxStatement+1)), "more than"},
		"no module":           {entry(moduleName, nil), "module.wasm is missing"},
		"another module":      {entry(moduleName, noop.Module), "is not what the job names"},
		"a huge module":       {entry(moduleName, make([]byte, sandbox.MaxModule+9)), "is not what the job names"},
		"another version":     {statement(func(s *Statement) { s.Version = FileVersion + 1 }), "of version 3"},
		"of another job":      {statement(func(s *Statement) { s.Result.Task.Job = task.JobID(task.RawCID(nil)) }), "job"},
		"of no task":          {statement(func(s *Statement) { s.Result = ofTask(t, &rec, 5) }), "none of index 5"},
		"signed by nobody":    {statement(func(s *Statement) { s.Result.Signature = nil }), "signature"},
		"changed after":       {statement(func(s *Statement) { s.Result.ExitCode = 1 }), "exit code"},
		"signed by another":   {statement(func(s *Statement) { s.Result.Worker = peerOf(3) }), "signature"},
		"a job of nobody's":   {statement(func(s *Statement) { s.Record.Signature = make([]byte, 64) }), "signature"},
		"a receipt of no one": {statement(func(s *Statement) { s.Result = withReceipt(t, &rec) }), "receipt"},
	} {
		if f, err := c.checked(t, tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func ofTask(t *testing.T, rec *task.Record, index uint64) task.Result {
	t.Helper()
	r := task.Result{Task: task.TaskID{Job: rec.ID(), Index: index}, Outcome: task.Completed}
	if err := r.Sign(keyOf(2)); err != nil {
		t.Fatal(err)
	}
	return r
}

func withReceipt(t *testing.T, rec *task.Record) task.Result {
	t.Helper()
	r := task.Result{Task: task.TaskID{Job: rec.ID(), Index: 3}, Outcome: task.Completed,
		Receipt: &task.Receipt{Leader: peerOf(9), Epoch: 1}}
	if err := r.Sign(keyOf(2)); err != nil {
		t.Fatal(err)
	}
	return r
}

// Files that anybody may hand over are read without harm.
func FuzzStatement(f *testing.F) {
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, b []byte) {
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		_, _ = readStatement(z)
	})
}
