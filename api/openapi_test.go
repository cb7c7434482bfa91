package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A description is openapi.yaml, whose schemas answers are held to. No answer may have a field that it does not
// describe.
type description struct {
	paths   map[string]any
	all     map[string]any // the named schemas
	schemas *jsonschema.Compiler
}

const described = "openapi.json"

func readDescription(t *testing.T) description {
	t.Helper()
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	root := doc.(map[string]any)
	named := root["components"].(map[string]any)["schemas"].(map[string]any)
	for _, schema := range named {
		closeParts(schema) // whoever refers to it closes it
	}
	closeAll(root["paths"])
	closeAll(root["components"].(map[string]any)["responses"])
	d := description{root["paths"].(map[string]any), named, jsonschema.NewCompiler()}
	d.schemas.AssertFormat()
	if err := d.schemas.AddResource(described, doc); err != nil {
		t.Fatal(err)
	}
	return d
}

// closeAll has every schema below v that lists properties refuse others; members of allOf do not, since
// each describes a part.
func closeAll(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, lists := v["properties"]
		_, parts := v["allOf"]
		ref, refers := v["$ref"].(string)
		if lists || parts || refers && strings.Contains(ref, "/schemas/") {
			if _, open := v["additionalProperties"]; !open {
				v["unevaluatedProperties"] = false
			}
		}
		closeParts(v)
	case []any:
		for _, below := range v {
			closeAll(below)
		}
	}
}

// closeParts is closeAll of what a schema has below it, and leaves itself and the members of its allOf open.
func closeParts(part any) {
	for name, below := range part.(map[string]any) {
		if name == "allOf" {
			for _, p := range below.([]any) {
				closeParts(p)
			}
			continue
		}
		closeAll(below)
	}
}

// operation finds what describes a request, by its template: "GET /v1/jobs/{id}".
func (d description) operation(method, path string) (template string, op map[string]any) {
	parts := strings.Split(path, "/")
	best := -1
	for p, item := range d.paths {
		want := strings.Split(p, "/")
		rest := strings.HasSuffix(p, "/{name}") && len(parts) > len(want) // a name with slashes
		if len(want) != len(parts) && !rest {
			continue
		}
		literal, fits := 0, true
		for i, w := range want {
			switch {
			case w == parts[i]:
				literal++
			case !strings.HasPrefix(w, "{"):
				fits = false
			}
		}
		found, has := item.(map[string]any)[strings.ToLower(method)].(map[string]any)
		if fits && has && literal > best {
			template, op, best = method+" "+p, found, literal
		}
	}
	return template, op
}

// check holds an answer to what is said of it, and names the operation.
func (d description) check(t *testing.T, method, path string, status int, kind string, body []byte) string {
	t.Helper()
	template, op := d.operation(method, path)
	if op == nil {
		t.Fatalf("%s %s is not described", method, path)
	}
	answers := op["responses"].(map[string]any)
	answer, ok := answers[fmt.Sprint(status)].(map[string]any)
	if !ok {
		t.Errorf("%s answers %d, which is not described: %s", template, status, body)
		return template
	}
	place := "/paths/" + pointer(strings.SplitN(template, " ", 2)[1]) + "/" + strings.ToLower(method) + "/responses/" +
		fmt.Sprint(status)
	if ref, ok := answer["$ref"].(string); ok {
		place = strings.TrimPrefix(ref, "#")
		answer = map[string]any{"content": map[string]any{"application/json": nil}}
	}
	content, _ := answer["content"].(map[string]any)
	if len(content) == 0 && len(body) == 0 {
		return template
	}
	if _, ok := content[kind]; !ok {
		t.Errorf("%s answers %d as %q, which is not described", template, status, kind)
		return template
	}
	if strings.HasSuffix(kind, "json") {
		d.hold(t, template, described+"#"+place+"/content/"+pointer(kind)+"/schema", body)
	}
	return template
}

// hold holds each JSON value of a body to a schema.
func (d description) hold(t *testing.T, what, place string, body []byte) {
	t.Helper()
	schema, err := d.schemas.Compile(place)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for values := json.NewDecoder(bytes.NewReader(body)); ; {
		var raw json.RawMessage
		if err := values.Decode(&raw); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s answers what is not described: %v", what, err)
		}
	}
}

// pointer escapes a part of a JSON pointer in a URL.
func pointer(s string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
}

// TestRoutesAreDescribed: openapi.yaml has every route of the server, and no other.
func TestRoutesAreDescribed(t *testing.T) {
	var routes, paths []string
	new(Server).each(func(pattern string, _ handler) {
		routes = append(routes, strings.ReplaceAll(pattern, "...}", "}"))
	})
	for path, item := range readDescription(t).paths {
		for method := range item.(map[string]any) {
			paths = append(paths, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(routes)
	slices.Sort(paths)
	for _, r := range routes {
		if _, found := slices.BinarySearch(paths, r); !found {
			t.Errorf("%s is not described", r)
		}
	}
	for _, p := range paths {
		if _, found := slices.BinarySearch(routes, p); !found {
			t.Errorf("%s is described and not served", p)
		}
	}
}

// A watcher sends requests to a node's socket and holds each answer to the description.
type watcher struct {
	t    *testing.T
	http *http.Client
	d    description
	sent map[string]map[int]bool // by operation: statuses that were answered
}

func newWatcher(t *testing.T, dir string) *watcher {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, SocketName))
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &watcher{t, &http.Client{Transport: transport}, readDescription(t), map[string]map[int]bool{}}
}

// ask sends a request, with a key or without, that is to be answered with a status, and returns the body.
func (w *watcher) ask(want int, method, path, body string, key ...string) []byte {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://node"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if len(key) > 0 {
		req.Header[KeyHeader] = key
	}
	resp, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if resp.StatusCode != want {
		w.t.Errorf("%s %s answers %d, want %d: %s", method, path, resp.StatusCode, want, got)
	}
	template := w.d.check(w.t, method, req.URL.EscapedPath(), resp.StatusCode, resp.Header.Get("Content-Type"), got)
	if w.sent[template] == nil {
		w.sent[template] = map[int]bool{}
	}
	w.sent[template][resp.StatusCode] = true
	return got
}

// field asks as ask does, and returns a text of the answer.
func (w *watcher) field(name string, method, path, body string) string {
	w.t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(w.ask(http.StatusOK, method, path, body), &fields); err != nil {
		w.t.Fatal(err)
	}
	text, _ := fields[name].(string)
	return text
}
