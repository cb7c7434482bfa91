package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"godwit/lab/experiment"
	"godwit/lab/testbed/measure"
)

const (
	token = "secret"
	text  = `machines: {count: 2, days: 1}
end: 20m
placement: lpas
workload:
  classes:
    - {name: a, work: 1m, arrival: poisson, interval: 30s}
    - {name: b, work: 1m, arrival: poisson, interval: 40s}
rates:
  unit: 1m
  of: [[9, 5], [2, 1]]
`
)

// serve returns a handler of a Manager that runs until the test ends.
func serve(t *testing.T) http.Handler {
	m := experiment.New(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return Handler(m, token)
}

// send sends a request with the token.
func send(h http.Handler, method, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:7734"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// source is the JSON of a definition.
func source(t *testing.T, scenario string) string {
	b, err := json.Marshal(experiment.Source{Name: "x.yaml", Scenario: scenario})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRefusals sends what is not answered with 2xx.
func TestRefusals(t *testing.T) {
	h := serve(t)
	if w := send(h, "POST", "/v1/experiments", source(t, text)); w.Code != http.StatusCreated {
		t.Fatalf("got %d: %s", w.Code, w.Body)
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	nothingArrives := strings.NewReplacer("poisson, interval: 30s", "times, times: [1h]", "poisson, interval: 40s",
		"times, times: [1h]").Replace(text)
	if w := send(h, "POST", "/v1/experiments", source(t, nothingArrives)); w.Code != http.StatusCreated {
		t.Fatalf("got %d: %s", w.Code, w.Body)
	}
	for name, tt := range map[string]struct {
		method, path, body string
		change             func(*http.Request)
		status             int
		says               string
	}{
		"no token":        {"GET", "/v1/runs", "", func(r *http.Request) { r.Header.Del("Authorization") }, 401, "neither a token"},
		"wrong token":     {"GET", "/v1/runs", "", header("Authorization", "Bearer secreT"), 401, `bearer token`},
		"foreign host":    {"GET", "/v1/runs", "", func(r *http.Request) { r.Host = "evil.example" }, 421, "not called evil.example"},
		"foreign origin":  {"GET", "/v1/runs", "", header("Origin", "http://evil.example"), 403, "another site"},
		"foreign fetch":   {"POST", "/v1/experiments", "{}", header("Sec-Fetch-Site", "cross-site"), 403, "another site"},
		"method":          {"PATCH", "/v1/runs", "", nil, 405, "no method"},
		"path":            {"GET", "/v1/nothing", "", nil, 404, "there is no GET /v1/nothing"},
		"no JSON":         {"POST", "/v1/experiments", "{", nil, 400, "reading the request"},
		"two values":      {"POST", "/v1/experiments", "{} {}", nil, 400, "more than one value"},
		"unknown field":   {"POST", "/v1/experiments", `{"text": "x"}`, nil, 400, "unknown field"},
		"empty":           {"POST", "/v1/experiments", "", nil, 400, `"line":1,"column":1`},
		"unknown key":     {"POST", "/v1/experiments", source(t, text+"ratess: 1\n"), nil, 400, `"file":"x.yaml","line":11,"column":1`},
		"no server":       {"POST", "/v1/experiments", source(t, strings.Replace(text, "[2, 1]", "[0, 0]", 1)), nil, 400, `no machine serves class \"b\"`},
		"file not sent":   {"POST", "/v1/experiments", source(t, strings.Replace(text, "machines: {count: 2, days: 1}", "trace: /etc/passwd", 1)), nil, 400, "was not sent"},
		"long text":       {"POST", "/v1/experiments", source(t, strings.Repeat("#", experiment.MaxScenario+1)), nil, 400, "bytes of the scenario"},
		"long options":    {"POST", "/v1/experiments/exp-1/runs", `{"on": "` + strings.Repeat("x", maxBody), nil, 413, "more than"},
		"no solution":     {"GET", "/v1/experiments/exp-2/allocation", "", nil, 422, "no task of any class arrives"},
		"no experiment":   {"GET", "/v1/experiments/exp-3", "", nil, 404, "no such experiment"},
		"no allocation":   {"GET", "/v1/experiments/exp-3/allocation", "", nil, 404, "no such experiment"},
		"nothing deleted": {"DELETE", "/v1/experiments/exp-3", "", nil, 404, "no such experiment"},
		"nothing started": {"POST", "/v1/experiments/exp-3/runs", "", nil, 404, "no such experiment"},
		"no place":        {"POST", "/v1/experiments/exp-1/runs", `{"on": "moon"}`, nil, 400, "simulator or nodes"},
		"no run":          {"GET", "/v1/runs/run-1/statistics", "", nil, 404, "no such experiment or run"},
		"no reports":      {"GET", "/v1/runs/run-1/reports", "", nil, 404, "no such experiment or run"},
		"nothing stopped": {"POST", "/v1/runs/run-1/stop", "", nil, 404, "no such experiment or run"},
		"no command":      {"POST", "/v1/runs/run-1/servers/M1/jump", "", nil, 400, "start, pause, ping, stop"},
	} {
		var change []func(*http.Request)
		if tt.change != nil {
			change = append(change, tt.change)
		}
		w := send(h, tt.method, tt.path, tt.body, change...)
		var e Error
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) || json.Unmarshal(w.Body.Bytes(), &e) != nil ||
			e.Message == "" {
			t.Errorf("%s: got %d: %.300s, want %d with %q", name, w.Code, w.Body, tt.status, tt.says)
		}
	}
}

// get sends a request and decodes its answer.
func get[T any](t *testing.T, h http.Handler, status int, method, path, body string) (out T) {
	t.Helper()
	w := send(h, method, path, body)
	if w.Code != status || json.Unmarshal(w.Body.Bytes(), &out) != nil {
		t.Fatalf("%s %s: got %d: %s", method, path, w.Code, w.Body)
	}
	return out
}

// TestRequests defines, solves, starts, reads, stops and deletes.
func TestRequests(t *testing.T) {
	h := serve(t)
	d := get[experiment.Definition](t, h, 201, "POST", "/v1/experiments", source(t, text))
	if d.ID != "exp-1" || d.Length != 20 || len(d.Servers) != 2 {
		t.Errorf("got %+v", d)
	}
	if all := get[[]Summary](t, h, 200, "GET", "/v1/experiments", ""); len(all) != 1 || all[0].Name != "x.yaml" {
		t.Errorf("got %+v", all)
	}
	if same := get[experiment.Definition](t, h, 200, "GET", "/v1/experiments/exp-1", ""); same.Scenario != text {
		t.Errorf("got %+v", same)
	}
	if a := get[experiment.Allocation](t, h, 200, "GET", "/v1/experiments/exp-1/allocation", ""); fmt.Sprintf("%.4f", a.Lambda) != "1.5789" {
		t.Errorf("got %+v", a)
	}
	if all := get[[]experiment.RunStatus](t, h, 200, "GET", "/v1/runs", ""); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
	st := get[experiment.RunStatus](t, h, 201, "POST", "/v1/experiments/exp-1/runs", `{"seed": 2}`)
	get[experiment.RunStatus](t, h, 200, "POST", "/v1/runs/"+st.ID+"/stop", "")
	var s experiment.Statistics
	for s.State = experiment.Running; s.State == experiment.Running; {
		s = get[experiment.Statistics](t, h, 200, "GET", "/v1/runs/"+st.ID+"/statistics", "")
	}
	if s.State != experiment.Stopped && s.State != experiment.Done {
		t.Errorf("got %+v", s)
	}
	if w := send(h, "POST", "/v1/runs/"+st.ID+"/servers/M1/ping", ""); w.Code != http.StatusConflict {
		t.Errorf("a simulated server answers: %d %s", w.Code, w.Body)
	}
	get[[]experiment.Report](t, h, 200, "GET", "/v1/runs/"+st.ID+"/reports", "")
	get[struct{}](t, h, 200, "DELETE", "/v1/experiments/exp-1", "")
}

// described is openapi.yaml.
func described(t *testing.T) map[string]any {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRoutesAreDescribed compares the routes with openapi.yaml.
func TestRoutesAreDescribed(t *testing.T) {
	var got, want []string
	requests{}.each(func(pattern string, _ int64, _ handler) { got = append(got, pattern) })
	for path, item := range described(t)["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				want = append(want, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("served are %q, described are %q", got, want)
	}
}

// TestFieldsAreDescribed compares the fields of answers with the schemas of openapi.yaml.
func TestFieldsAreDescribed(t *testing.T) {
	schemas := described(t)["components"].(map[string]any)["schemas"].(map[string]any)
	for name, of := range map[string]any{"Error": Error{}, "Source": experiment.Source{}, "Summary": Summary{},
		"Definition": experiment.Definition{}, "Allocation": experiment.Allocation{}, "RunOptions": experiment.RunOptions{},
		"RunStatus": experiment.RunStatus{}, "Statistics": experiment.Statistics{}, "Report": experiment.Report{},
		"ServerReply": experiment.ServerReply{}, "Snapshot": measure.Snapshot{}} {
		want := slices.Sorted(maps.Keys(schemas[name].(map[string]any)["properties"].(map[string]any)))
		got := fields(reflect.TypeOf(of))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has the fields %q, described are %q", name, got, want)
		}
	}
}

// fields are the names of a struct's fields in JSON, those of embedded structs among them.
func fields(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			names = append(names, fields(f.Type)...)
		case f.IsExported() && tag != "-":
			names = append(names, tag)
		}
	}
	return names
}
