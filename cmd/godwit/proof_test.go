package main

import (
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"godwit/api"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestProofOfTakenResult saves a proof of a wrong result that a job took from another one. The proof has the record of the
// other job, whose task the worker ran.
func TestProofOfTakenResult(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	other := schedtest.Job(t, key, 2, nil)
	job := schedtest.Job(t, key, 2, func(j *task.Job) { j.Name = "again" })
	wrong := message.TaskSummary{Refuted: &message.Refuted{Result: task.Result{Task: task.TaskID{Job: other.ID()}}}}
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := api.Results{Total: 2, Record: &job, Tasks: []message.TaskSummary{wrong}}
		if strings.Contains(r.URL.Path, string(other.ID())) {
			page.Record = &other
		}
		b, err := task.Encode(&page)
		if err != nil {
			t.Error(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Error(err)
		}
	}))
	defer node.Close()
	client := api.DialTCP(strings.TrimPrefix(node.URL, "http://"), "")
	defer client.Close()
	s, err := refuted(t.Context(), client, string(job.ID()), 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.Record.ID() != other.ID() {
		t.Errorf("the record is of job %s, want %s", s.Record.ID(), other.ID())
	}
}
