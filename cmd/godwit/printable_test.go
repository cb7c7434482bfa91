package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"godwit/api"
	"godwit/api/apitest"
	"godwit/node"
	"godwit/scheduler"
	"godwit/scheduler/message"
)

// hostile is a text that plays with a terminal, and turns what follows around.
const hostile = "\x1b]0;title\x07\x1b[2J\u202e\u009b1m\x7f"

// fill writes the text into every field that can have one.
func fill(v reflect.Value, depth int) {
	if _, fixed := v.Addr().Interface().(encoding.TextUnmarshaler); fixed || depth == 0 {
		return // one of a few words, or deep enough
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x" + hostile)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1)
	case reflect.Uint64, reflect.Uint32, reflect.Uint:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth-1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		k, x := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k, depth-1)
		fill(x, depth-1)
		v.SetMapIndex(k, x)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth-1)
			}
		}
	}
}

// hostileNode is a node whose every answer has such texts; it returns its data directory.
func hostileNode(t *testing.T) string {
	t.Helper()
	answers := map[string]any{
		"/v1/jobs": new([]message.JobStatus), "/v1/jobs/x": new(message.JobStatus), "/v1/jobs/x/why": new(node.Why),
		"/v1/status": new(node.Status), "/v1/peers": new([]node.Member), "/v1/overlays": new([]node.OverlayStatus),
		"/v1/overlays/x": new(node.OverlayDetail), "/v1/overlays/x/scheduling": new(scheduler.Scheduling),
		"/v1/forecast": new(node.Forecast),
	}
	const depth = 6
	for _, v := range answers {
		fill(reflect.ValueOf(v).Elem(), depth)
	}
	answers["/v1/jobs/x"].(*message.JobStatus).TasksList[0].Index = 0 // the only one
	return apitest.Listen(t, func(w http.ResponseWriter, r *http.Request) {
		v, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			v = api.Error{Message: "no " + hostile, Hint: hostile, Kind: api.KindNotFound}
		}
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	})
}

// TestPeersTextsOnATerminal: no verb that prints what other nodes wrote prints anything that
// plays with a terminal, its errors included.
func TestPeersTextsOnATerminal(t *testing.T) {
	dir := hostileNode(t)
	for _, verb := range []string{"jobs", "job x --tasks", "job x --task 0", "why x", "status", "peers", "overlay list",
		"overlay show x", "overlay watch x --once", "forecast", "cancel nobody", "results nobody --out " + t.TempDir(),
		"history nobody", "overlay leave nobody"} {
		var out, errs bytes.Buffer
		root := newRoot()
		root.SetArgs(append(strings.Fields(verb), "--data-dir", dir))
		root.SetOut(&out)
		root.SetErr(&errs)
		err := root.ExecuteContext(t.Context())
		report(&errs, err)
		said := out.String() + errs.String()
		if !strings.Contains(said, "\ufffd") {
			t.Errorf("%s: no text of another node is printed: %q", verb, said)
		}
		if i := strings.IndexFunc(said, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
		}); i >= 0 {
			t.Errorf("%s: prints %q", verb, said[max(0, i-30):min(len(said), i+30)])
		}
	}
}

// TestTicketFromAFile: a ticket is read from a file and from the standard input.
func TestTicketFromAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ticket")
	if err := os.WriteFile(file, []byte("godwit1abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{"lab": "lab", "@" + file: "godwit1abc", "-": "godwit1def", "@nowhere": ""} {
		got, err := overlayNamed(arg, strings.NewReader(" godwit1def \n"))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", arg, got, err)
		}
	}
	if got, err := overlayNamed("-", strings.NewReader("\n")); err == nil {
		t.Errorf("no ticket: %q", got)
	}
}
