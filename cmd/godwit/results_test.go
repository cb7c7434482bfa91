package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/scheduler/message"
	"godwit/task"
)

// TestResultsOfJobThatEnds asks for the results of a job that ends while they are fetched. Some results may be missing,
// so the command does not say that the job is over.
func TestResultsOfJobThatEnds(t *testing.T) {
	asked := false
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/results") {
			asked = true
			page, err := task.Encode(&api.Results{})
			if err != nil {
				t.Error(err)
			}
			if _, err := w.Write(page); err != nil {
				t.Error(err)
			}
			return
		}
		st := message.JobStatus{ID: "job", State: message.JobRunning, Tasks: message.TaskCounts{Total: 2, Done: 1}}
		if asked {
			st.State, st.Tasks.Done, st.Final = message.JobDone, 2, true
		}
		if err := json.NewEncoder(w).Encode(st); err != nil {
			t.Error(err)
		}
	}))
	defer node.Close()
	client := api.DialTCP(strings.TrimPrefix(node.URL, "http://"), "")
	defer client.Close()
	r := &resultFlags{dir: filepath.Join(t.TempDir(), "out")}
	err := r.run(t.Context(), io.Discard, io.Discard, client, "job")
	var f *failure.Error
	if !asked || !errors.As(err, &f) || f.Code != failure.ExitPartly {
		t.Errorf("it was asked for results: %v; error %v, want exit code %d", asked, err, failure.ExitPartly)
	}
}
