package audit

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"godwit/api"
	"godwit/api/apitest"
	"godwit/blocks/seal"
	"godwit/internal/noop"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// A copier's tasks put out their input.
type copier struct{}

func (copier) Run(_ context.Context, t sandbox.Task) (sandbox.Report, error) {
	b, err := os.ReadFile(t.Files[0].Path)
	return sandbox.Report{Outcome: task.Completed, Outputs: []sandbox.File{{Name: task.Stdout, Data: b}}}, err
}

// The tasks of a sealed job get its inputs opened, and what comes out is held against the
// results as they are sealed.
func TestSealedJob(t *testing.T) {
	secret := bytes.Repeat([]byte{5}, task.KeySize)
	sealer, err := seal.New(secret)
	if err != nil {
		t.Fatal(err)
	}
	input := sealer.SealFile([]byte("an input"))
	rec, err := task.SignJob(&task.Job{Name: "test", Overlay: "lab", Module: task.RawCID(noop.Module),
		Outputs: []string{task.Stdout}, Memory: 1 << 20, Replicas: 1, Submitted: task.At(time.Unix(1e9, 0)),
		Nonce: make([]byte, task.NonceSize), Sweep: task.Sweep{Repeat: 2}, Files: []string{"in"},
		Inputs: []task.FileRef{{Name: "in", CID: task.RawCID(input), Size: int64(len(input))}},
		Sealed: task.KeyCommitment(secret)}, key)
	if err != nil {
		t.Fatal(err)
	}
	rec.Key = secret
	of := func(i uint64) task.TaskID { return task.TaskID{Job: rec.ID(), Index: i} }
	page := api.Results{Total: 2, Record: &rec, Tasks: []message.TaskSummary{
		signedAs(t, of(0), task.Completed, input), signedAs(t, of(1), task.Completed, sealer.SealFile([]byte("another")))}}
	client := apitest.Results(t, page,
		map[task.CID][]byte{task.RawCID(input): input, task.RawCID(noop.Module): noop.Module})
	a := &Auditor{Compiled: copier{}, Interpreted: copier{}, Dir: t.TempDir(), Client: client}
	found, _, err := a.Job(t.Context(), "any", 2, nil, rand.New(rand.NewPCG(1, 1)))
	if err != nil || len(found) != 2 || found[0].Verdict != Right || found[1].Verdict != Differs ||
		found[1].Why != "stdout has 8 bytes here, 7 by the result" {
		t.Errorf("%+v, %v", found, err)
	}
}
