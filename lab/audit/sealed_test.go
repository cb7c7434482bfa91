package audit

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/api"
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
	page, err := task.Encode(api.Results{Total: 2, Record: &rec, Tasks: []message.TaskSummary{
		signedAs(t, of(0), task.Completed, input), signed(t, of(1), task.Completed, "an input")}})
	if err != nil {
		t.Fatal(err)
	}
	end, err := task.Encode(api.Results{Total: 2})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, api.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, string(task.RawCID(input))):
			w.Write(input)
		case strings.HasPrefix(r.URL.Path, "/v1/files/"):
			w.Write(noop.Module)
		case r.URL.Query().Get("from") == "0":
			w.Write(page)
		default:
			w.Write(end)
		}
	})}
	go srv.Serve(listener)
	t.Cleanup(func() { srv.Close() })
	client := api.Dial(dir)
	t.Cleanup(client.Close)
	a := &Auditor{Compiled: copier{}, Interpreted: copier{}, Dir: t.TempDir(), Client: client}
	found, _, err := a.Job(t.Context(), "any", 2, nil, rand.New(rand.NewPCG(1, 1)))
	if err != nil || len(found) != 2 || found[0].Verdict != Right || found[1].Verdict != Differs {
		t.Errorf("%+v, %v", found, err)
	}
}
