// Package apitest stands in for a node's API, for tests of what asks it.
package apitest

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"godwit/api"
	"godwit/scheduler/message"
	"godwit/task"
)

// Listen has h answer at the socket of a data directory, until the test ends, and returns the
// directory.
func Listen(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, api.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go srv.Serve(listener)
	t.Cleanup(func() { srv.Close() })
	return dir
}

// Serve returns a client whose requests h answers, until the test ends.
func Serve(t testing.TB, h http.HandlerFunc) *api.Client {
	t.Helper()
	client := api.Dial(Listen(t, h))
	t.Cleanup(client.Close)
	return client
}

// Results returns a client of a node that has one page of a job's results, whichever job it is
// asked for, that job's ID, and the content of some files.
func Results(t testing.TB, page api.Results, files map[task.CID][]byte) *api.Client {
	t.Helper()
	first := encode(t, page)
	end := encode(t, api.Results{Total: page.Total})
	return Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if c, ok := strings.CutPrefix(r.URL.Path, "/v1/files/"); ok {
			if content, ok := files[task.CID(c)]; ok {
				w.Write(content)
				return
			}
			http.NotFound(w, r)
			return
		}
		if !strings.HasSuffix(r.URL.Path, "/results") && page.Record != nil { // the job itself
			json.NewEncoder(w).Encode(message.JobStatus{ID: page.Record.ID()})
			return
		}
		if r.URL.Query().Get("from") == "0" {
			w.Write(first)
			return
		}
		w.Write(end)
	})
}

func encode(t testing.TB, page api.Results) []byte {
	t.Helper()
	b, err := task.Encode(page)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
