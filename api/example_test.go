package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"godwit/api"
)

// node stands for a node here: it answers two questions as openapi.yaml says.
func node(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": "the token is wrong", "kind": "input", "hint": "read it from the data directory"}`)
	case r.URL.Path == "/v1/jobs":
		fmt.Fprint(w, `[{"id": "bafyjob", "name": "render", "state": "running",
			"tasks": {"total": 8, "running": 2, "done": 6}}]`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error": "there is no such job", "kind": "not-found", "hint": "list the jobs"}`)
	}
}

// A client asks a node for its jobs, and for one that the node does not know. The
// token is in the node's data directory; on the node's own machine Dial needs none.
func ExampleClient() {
	server := httptest.NewServer(http.HandlerFunc(node))
	defer server.Close()
	c := api.DialTCP(strings.TrimPrefix(server.URL, "http://"), "secret\n")
	defer c.Close()
	jobs, err := c.Jobs(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range jobs {
		fmt.Printf("%s: %s, %d of %d done\n", j.Name, j.State, j.Tasks.Done, j.Tasks.Total)
	}
	_, err = c.Job(context.Background(), "nosuch")
	var refused *api.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Kind, refused.Hint)
	}
	// Output:
	// render: running, 6 of 8 done
	// 404 not-found list the jobs
}
