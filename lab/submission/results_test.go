package submission

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"godwit/api"
	"godwit/task"
)

// TestContentRefusesOtherBytes: a node, or whoever sits between, cannot pass
// off other bytes as what a worker signed.
func TestContentRefusesOtherBytes(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, api.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	served := "what the worker wrote"
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.Write([]byte(served))
	})}
	go srv.Serve(listener)
	t.Cleanup(func() { srv.Close() })
	client := api.Dial(dir)
	t.Cleanup(client.Close)

	o := task.Output{Name: "stdout", CID: task.RawCID([]byte(served)), Size: int64(len(served))}
	if b, err := content(t.Context(), client, o); err != nil || string(b) != served {
		t.Fatalf("got %q, %v, want the content", b, err)
	}
	for _, other := range []string{"what the worker wrotE", served + ".", ""} {
		served = other
		if b, err := content(t.Context(), client, o); err == nil ||
			!strings.Contains(err.Error(), "not what its worker signed") {
			t.Errorf("served %q: got %q, %v, want a refusal", other, b, err)
		}
	}
	o.Inline = []byte("what the worker wrotE")
	if _, err := content(t.Context(), client, o); err == nil {
		t.Error("an inline output that is not its CID's content was taken")
	}
}
