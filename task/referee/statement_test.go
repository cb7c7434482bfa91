package referee

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/task"
)

var key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// statement is of a result of a task of a job of two, changed before it is signed.
func statement(tb testing.TB, change func(*task.Job, *task.Result)) Statement {
	tb.Helper()
	j := &task.Job{Name: "test", Overlay: "lab", Module: task.RawCID([]byte("module")), Outputs: []string{task.Stdout},
		Memory: 1 << 20, Replicas: 1, Submitted: task.At(time.Unix(1e9, 0)), Nonce: make([]byte, task.NonceSize),
		Sweep: task.Sweep{Repeat: 2}}
	r := task.Result{Outcome: task.Completed}
	if change != nil {
		change(j, &r)
	}
	rec, err := task.SignJob(j, key)
	if err != nil {
		tb.Fatal(err)
	}
	if r.Task.Job == "" {
		r.Task.Job = rec.ID()
	}
	if err := r.Sign(key); err != nil {
		tb.Fatal(err)
	}
	return Statement{Record: rec, Result: r}
}

func TestOpen(t *testing.T) {
	good := statement(t, nil)
	if _, err := good.Open(); err != nil {
		t.Error(err)
	}
	other := statement(t, func(j *task.Job, _ *task.Result) { j.Name = "other" })
	for name, s := range map[string]Statement{
		"with a key":             func() Statement { s := good; s.Record.Key = make([]byte, task.KeySize); return s }(),
		"another job's":          {Record: other.Record, Result: good.Result},
		"no such task":           statement(t, func(_ *task.Job, r *task.Result) { r.Task.Index = 2 }),
		"a part of no run":       func() Statement { s := good; s.Part = &task.PartProof{Last: 1}; return s }(),
		"depends on the machine": statement(t, func(_ *task.Job, r *task.Result) { r.Outcome = task.Interrupted }),
		"another signed the job": {Record: task.Record{Job: good.Record.Job}, Result: good.Result},
		"nobody signed the result": {Record: good.Record, Result: task.Result{Task: good.Result.Task,
			Worker: good.Result.Worker, Outcome: task.Completed}},
	} {
		if _, err := s.Open(); err == nil {
			t.Errorf("%s: it opens", name)
		}
	}
	large := statement(t, func(j *task.Job, _ *task.Result) {
		j.Args = []string{string(bytes.Repeat([]byte("x"), MaxStatement))}
	})
	if _, err := large.Encode(); err == nil {
		t.Error("a statement beyond the bound is told")
	}
}

func FuzzStatement(f *testing.F) {
	s := statement(f, nil)
	b, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	s.Part = &task.PartProof{First: 1, Last: 2, Kept: []task.KeptState{{Fuel: 9, Hash: make([]byte, 32)}}}
	if b, err = s.Encode(); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{0xa0})
	s.Part.Leg = 1
	if b, err = s.Encode(); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	s.Part, s.Result = nil, task.Result{Task: s.Result.Task}
	s.Chain = []task.Link{{CID: task.RawCID([]byte("state")), Fuel: 9, Voucher: task.Voucher{Worker: "w", Pass: 1}}}
	if b, err = s.Encode(); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			return
		}
		roundtrip.Check(t, s, func(s Statement) ([]byte, error) { return task.Encode(&s) }, Decode)
		if spec, err := s.Open(); err == nil && s.By(spec.Spacing()) == "" {
			t.Error("nobody is said to be wrong")
		}
	})
}

// What a referee says of runs that end in this way, compiled and interpreted.
func TestJudge(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		signed, compiled, interpreted string
		err                           error
		want                          Verdict
	}{
		"right":                    {signed: "x", compiled: "x", want: Nothing},
		"wrong":                    {signed: "x", compiled: "y", interpreted: "y", want: Proven},
		"the compiler errs":        {signed: "x", compiled: "y", interpreted: "x", want: Open},
		"this machine errs":        {signed: "x", compiled: "y", interpreted: "z", want: Open},
		"it does not run":          {signed: "x", err: broken, want: Open},
		"it does not run that far": {signed: "x", compiled: "[i]", want: Open},
	} {
		result := func(text string) *task.Result {
			if text == "[i]" {
				return &task.Result{Outcome: task.Interrupted}
			}
			return &task.Result{Outcome: task.Completed, Worker: "w", Outputs: []task.Output{{Name: task.Stdout,
				CID: task.RawCID([]byte(text)), Size: int64(len(text)), Inline: []byte(text)}}}
		}
		run := func(_ context.Context, interpreted bool, _ uint64) (*task.Result, error) {
			if interpreted {
				return result(tt.interpreted), tt.err
			}
			return result(tt.compiled), tt.err
		}
		r := Referee{Signed: result(tt.signed), Run: run}
		f, err := r.Judge(t.Context())
		if f.Verdict != tt.want || !errors.Is(err, tt.err) || (f.By == "w") != (tt.want == Proven) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}
