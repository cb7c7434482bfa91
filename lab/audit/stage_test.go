package audit

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"godwit/api"
	"godwit/api/apitest"
	"godwit/internal/noop"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// A joiner's tasks put out what they read, and those that read nothing "made".
type joiner struct{}

func (joiner) Run(_ context.Context, t sandbox.Task) (sandbox.Report, error) {
	out := []byte("made")
	for _, f := range t.Files {
		b, err := os.ReadFile(f.Path)
		if err != nil {
			return sandbox.Report{}, err
		}
		out = append(append(append(append(out, '+'), f.Name...), '='), b...)
	}
	return sandbox.Report{Outcome: task.Completed, Outputs: []sandbox.File{{Name: task.Stdout, Data: out}}}, nil
}

// stagedRecord is of a job of two tasks, and of one that reads both.
func stagedRecord(t *testing.T) task.Record {
	t.Helper()
	module := task.RawCID(noop.Module)
	rec, err := task.SignJob(&task.Job{Name: "test", Overlay: "lab", Module: module, Memory: 1 << 20, Replicas: 1,
		Submitted: task.At(time.Unix(1e9, 0)), Nonce: make([]byte, task.NonceSize), Stages: []task.Stage{
			{Name: "make", Module: module, Outputs: []string{task.Stdout}, Sweep: task.Sweep{Repeat: 2}},
			{Name: "join", Module: module, Outputs: []string{task.Stdout},
				Needs: []task.Need{{Stage: 0, Kind: task.NeedAfter, Reads: []string{task.Stdout}}}},
		}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// A task of a stage runs again on what is held of those that it reads. Its worker is wrong only if it says that it
// read the same: one that reads other bytes than are held, leaves some out, or says nothing is not named.
func TestStagedJob(t *testing.T) {
	rec := stagedRecord(t)
	of := func(i uint64) task.TaskID { return task.TaskID{Job: rec.ID(), Index: i} }
	stdout := func(name, text string) task.Output {
		return task.Output{Name: name, CID: task.RawCID([]byte(text)), Size: int64(len(text))}
	}
	both := []task.Output{stdout("make/0/stdout", "made"), stdout("make/1/stdout", "made")}
	const right = "made+make/0/stdout=made+make/1/stdout=made"
	for name, tt := range map[string]struct {
		reads  []task.Output
		silent bool
		says   string
		want   Verdict
		why    string
	}{
		"right":              {both, false, right, Right, ""},
		"a lie":              {both, false, "a lie", Differs, "stdout has"},
		"other bytes":        {[]task.Output{both[0], stdout("make/1/stdout", "x")}, false, "x", Open, "other files"},
		"another name":       {[]task.Output{both[0], stdout("make/2/stdout", "made")}, false, "x", Open, "other files"},
		"one is left out":    {both[:1], false, "made+make/0/stdout=made", Open, "other files"},
		"all are left out":   {nil, false, "made", Open, "other files"},
		"it does not say":    {nil, true, "made", Open, "does not say"},
		"nor lies by that":   {nil, true, "a lie", Open, "does not say"},
		"it says other ones": {both[:1], false, right, Open, "other files"},
	} {
		t.Run(name, func(t *testing.T) {
			end := signed(t, of(2), task.Completed, tt.says)
			if !tt.silent {
				root, err := task.NameFiles(tt.reads)
				if err != nil {
					t.Fatal(err)
				}
				end.Results[0].Reads = root[:]
				if err := end.Results[0].Sign(key); err != nil {
					t.Fatal(err)
				}
			}
			page := api.Results{Total: 3, Record: &rec, Tasks: []message.TaskSummary{
				signed(t, of(0), task.Completed, "made"), signed(t, of(1), task.Completed, "made"), end}}
			client := apitest.Results(t, page, map[task.CID][]byte{task.RawCID(noop.Module): noop.Module})
			a := &Auditor{Compiled: joiner{}, Interpreted: joiner{}, Dir: t.TempDir(), Client: client}
			found, of, err := a.Job(t.Context(), "any", 3, nil, rand.New(rand.NewPCG(1, 1)))
			if err != nil || of != 3 || len(found) != 3 || found[0].Verdict != Right || found[1].Verdict != Right ||
				found[2].Verdict != tt.want || !strings.Contains(found[2].Why, tt.why) {
				t.Errorf("%+v of %d, %v", found, of, err)
			}
		})
	}
}
