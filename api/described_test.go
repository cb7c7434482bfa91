package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"godwit/blocks"
	"godwit/internal/noop"
	"godwit/node"
	"godwit/sandbox"
	"godwit/task"
)

// TestMain lets the test binary be the sandbox's process, for nodes that run programs.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "sandbox" {
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// startWorking runs a node of two cores that runs programs, and serves its API.
func startWorking(t *testing.T) (*node.Node, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	n, err := node.New(t.Context(), node.Config{DataDir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Cores: 2,
		Sandbox: []string{self, "sandbox"}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	run(t, n.Run)
	serve(t, n, dir, "")
	return n, dir
}

// copies is a job of two tasks, of which one prints what fits its result and one what does not.
const copies = `name: copies
module: copy.wasm
stdin: "{{.size}}"
outputs: [stdout, stderr]
verify: full
sweep:
  size: [small, large]
`

// TestAnswersAreDescribed sends every request that openapi.yaml describes, and holds each answer to its schema.
func TestAnswersAreDescribed(t *testing.T) {
	n, dir := startWorking(t)
	w := newWatcher(t, dir)
	job := w.submitCopies()
	w.ask(200, "GET", "/v1/jobs/"+job+"/watch", "") // until it has ended
	w.askJobs(job)
	w.askRetry()
	w.askAdditions()
	w.askFiles(job)
	tree, err := n.Blocks().PutTree(t.Context(), []blocks.Link{{Name: "a", CID: task.RawCID([]byte("a"))}})
	if err != nil {
		t.Fatal(err)
	}
	w.ask(200, "GET", "/v1/trees/"+string(tree), "")
	w.askOverlays()
	w.askPeers()
	w.askOwner()
	w.askPages(job)
	w.askRules()
	w.ask(200, "DELETE", "/v1/jobs/"+job+"/results", "")
	w.ask(404, "DELETE", "/v1/jobs/"+job+"/results", "")
	w.ask(404, "GET", "/v1/jobs/"+job+"/outputs", "")
	for path, item := range w.d.paths {
		for method, op := range item.(map[string]any) {
			name := strings.ToUpper(method) + " " + path
			for status := range op.(map[string]any)["responses"].(map[string]any) {
				var code int
				if _, err := fmt.Sscan(status, &code); err != nil {
					t.Fatal(err)
				}
				if !w.sent[name][code] && !slices.Contains(others, code) && name != "POST /v1/overlays/join" {
					t.Errorf("%s: no test sends what is answered with %s", name, status)
				}
			}
		}
	}
}

// others are answers that rest on other nodes, on a moment, or on gigabytes; and of joining an overlay that nobody
// has, which takes a search.
var others = []int{http.StatusForbidden, http.StatusConflict, http.StatusServiceUnavailable,
	http.StatusRequestEntityTooLarge, http.StatusInsufficientStorage, http.StatusTooManyRequests}

func (w *watcher) submitCopies() (job string) {
	w.t.Helper()
	small, large := "a few words", strings.Repeat("many words ", 1000)
	input := func(name, content string) map[string]any {
		return map[string]any{"name": name, "cid": w.field("cid", "POST", "/v1/files", content), "size": len(content)}
	}
	b, err := json.Marshal(map[string]any{"file_name": "job.yaml", "file": copies,
		"module": w.field("cid", "POST", "/v1/files", string(noop.Copying)),
		"inputs": []any{input("small", small), input("large", large)}})
	if err != nil {
		w.t.Fatal(err)
	}
	if got := w.field("module", "POST", "/v1/jobs/check", string(b)); got != "copy.wasm" {
		w.t.Errorf("the job file names the module %q", got)
	}
	w.ask(200, "POST", "/v1/jobs/check",
		`{"file": "module: a.wasm\nfiles: [in/, '*.png', a]", "file_name": "job.yaml"}`)
	w.ask(200, "POST", "/v1/jobs/check",
		`{"file": "module: a.wasm\nsweep: {a: {csv: a.csv}}\nargs: ['{{.a.b}}']", "file_name": "job.yaml"}`)
	w.askTables()
	w.ask(400, "POST", "/v1/jobs/check", `{"file_name": "job.yaml", "file": "modul: x"}`)
	w.ask(200, "POST", "/v1/jobs/check", `{"file_name": "job.yaml", "file": "module: a.wasm", "sizes": {"a": 1}}`)
	w.ask(400, "POST", "/v1/jobs/check", `{"file_name": "job.yaml", "file": "module: a.wasm", "sizes": {"a": -1}}`)
	w.ask(200, "POST", "/v1/plan", `{"tasks": 100, "work_s": 60, "memory_bytes": 65536, "overlay": "commons"}`)
	w.ask(200, "POST", "/v1/plan", `{"tasks": 1, "memory_bytes": 1125899906842624}`) // nobody has so much
	w.ask(400, "POST", "/v1/plan", `{"tasks": 0}`)
	w.ask(400, "POST", "/v1/plan", `{"tasks": 1, "work_s": -1}`)
	w.ask(404, "POST", "/v1/plan", `{"tasks": 1, "overlay": "nowhere"}`)
	w.ask(200, "POST", "/v1/plan", fmt.Sprintf(`{"tasks": 2, "job": %s}`, b))
	reuse := string(b[:len(b)-1]) + `, "reuse": true}`
	w.ask(200, "POST", "/v1/plan", `{"tasks": 2, "job": `+reuse+`}`)
	w.ask(400, "POST", "/v1/plan", `{"tasks": 3, "job": `+reuse+`}`)
	job = w.field("id", "POST", "/v1/jobs", string(b))
	w.ask(400, "POST", "/v1/jobs", "{}")
	w.ask(404, "POST", "/v1/jobs", `{"overlay": "nowhere"}`)
	return job
}

// askTables stores tables, and asks what their rows name.
func (w *watcher) askTables() {
	w.t.Helper()
	table := w.ask(200, "POST", "/v1/tables?kind=csv", "image,n\nin/b.png,1\nin/a.png,2\nout/,3\n")
	said := w.ask(200, "POST", "/v1/jobs/check", `{"file_name": "job.yaml", "file": "module: a.wasm\n`+
		`sweep: {a: {csv: a.csv}}\nfiles: ['{{.a.image}}', c]", "tables": {"a": `+string(table)+`}}`)
	for _, part := range []string{`"inputs":["c","in/a.png","in/b.png"]`, `"directories":["out/"]`, `"tasks":3`} {
		if !strings.Contains(string(said), part) {
			w.t.Errorf("of a job with a table it says %s, want %s", said, part)
		}
	}
	grouped := `{"file_name": "job.yaml", "file": "name: j\nstages:\n  a: {module: a.wasm, sweep: {a: {csv: a.csv}}}\n` +
		`  b: {module: b.wasm, by: [a.%s], of: a, files: ['{{.a}}/*/stdout']}\n", "tables": {"a.a": ` +
		string(w.ask(200, "POST", "/v1/tables?kind=csv", "image,n\na,1\nb,1\nc,2\n")) + `}}`
	said = w.ask(200, "POST", "/v1/jobs/check", fmt.Sprintf(grouped, "n"))
	if !strings.Contains(string(said), `"tasks":5`) {
		w.t.Errorf("of a job with two groups of three rows it says %s", said)
	}
	w.ask(400, "POST", "/v1/jobs/check", fmt.Sprintf(grouped, "m"))
	w.ask(200, "POST", "/v1/tables?kind=files", "in/b.png\nin/a.png\n")
	w.ask(400, "POST", "/v1/tables?kind=files", "../up\n")
	w.ask(400, "POST", "/v1/tables?kind=csv", "a,b\n1\n")
	w.ask(400, "POST", "/v1/tables?kind=xls", "a")
	w.ask(400, "POST", "/v1/tables?kind=csv", "")
	w.ask(200, "POST", "/v1/jobs/check", `{"file_name": "job.yaml", "file": "name: j\nstages:\n  a: {module: a.wasm}\n`+
		`  b: {module: b.wasm, each: a, files: ['{{.a}}/stdout', d]}\n"}`)
}

// failing is a job whose only task takes longer than it may.
const failing = `name: failing
module: writing.wasm
timeout: 1ms
retries: 0
verify: off
`

// askRetry has a job fail, and what failed run again.
func (w *watcher) askRetry() {
	w.t.Helper()
	b, err := json.Marshal(map[string]any{"file_name": "failing.yaml", "file": failing,
		"module": w.field("cid", "POST", "/v1/files", string(noop.Writing))})
	if err != nil {
		w.t.Fatal(err)
	}
	job := w.field("id", "POST", "/v1/jobs", string(b))
	w.ask(200, "GET", "/v1/jobs/"+job+"/watch", "")
	w.ask(200, "POST", "/v1/jobs/"+job+"/retry", "{}")
	w.ask(409, "POST", "/v1/jobs/copies/retry", "{}")
	w.ask(409, "POST", "/v1/jobs/"+job+"/checks?tasks=2", "")
	w.ask(200, "POST", "/v1/jobs/copies/checks", "")
	w.ask(404, "POST", "/v1/jobs/none/checks", "")
	w.ask(400, "POST", "/v1/jobs/copies/checks?tasks=-1", "")
}

func (w *watcher) askAdditions() {
	w.t.Helper()
	w.ask(412, "POST", "/v1/jobs/copies/tasks", `{"trials": 1, "tasks": 7}`)
	added := w.field("id", "POST", "/v1/jobs/copies/tasks", `{"trials": 1, "points": {"size": ["small"]}, "tasks": 2}`)
	w.ask(200, "GET", "/v1/jobs/"+added+"/watch", "")
	w.ask(200, "GET", "/v1/jobs/copies", "") // which lists it
	w.ask(409, "POST", "/v1/jobs/copies/tasks", `{"sweep": {"size": ["large"]}}`)
	w.ask(400, "POST", "/v1/jobs/copies/tasks", `{"sweep": {"size": ["huge"]}}`) // no such input
	w.ask(400, "POST", "/v1/jobs/copies/tasks", `{"trials": 1, "more": [{"task": 0, "trials": 1}]}`)
	w.ask(404, "POST", "/v1/jobs/none/tasks", `{"trials": 1}`)
}

func (w *watcher) askJobs(job string) {
	w.ask(200, "GET", "/v1/jobs", "")
	w.ask(200, "GET", "/v1/jobs/copies", "")
	w.ask(404, "GET", "/v1/jobs/none", "")
	w.ask(400, "GET", "/v1/jobs/copies?from=x", "")
	for _, rest := range []string{"/watch", "/results", "/outputs", "/why", "/end"} {
		w.ask(200, "GET", "/v1/jobs/copies"+rest, "")
		w.ask(404, "GET", "/v1/jobs/none"+rest, "")
	}
	for _, rest := range []string{"/results?from=x", "/outputs?limit=-1", "/why?index=x", "/tasks/x/outputs/stdout"} {
		w.ask(400, "GET", "/v1/jobs/copies"+rest, "")
	}
	const nothing, nonsense = "\xa0", "\xff" // an empty map in CBOR, and none
	w.ask(200, "POST", "/v1/jobs/copies/results", nothing)
	w.ask(400, "POST", "/v1/jobs/copies/results", nonsense)
	w.ask(404, "POST", "/v1/jobs/none/results", nothing)
	w.ask(400, "POST", "/v1/jobs/copies/retry", "")
	w.ask(404, "POST", "/v1/jobs/none/retry", "{}")
	w.ask(200, "GET", "/v1/jobs/"+job+"/why?index=1", "")
	for i, want := range []int{len("a few words"), 1000 * len("many words ")} {
		if got := w.ask(200, "GET", fmt.Sprintf("/v1/jobs/copies/tasks/%d/outputs/stdout", i), ""); len(got) != want {
			w.t.Errorf("task %d printed %d bytes, want %d", i, len(got), want)
		}
	}
	for _, rest := range []string{"0/outputs/none", "0/outputs/a/b", "7/outputs/stdout"} {
		w.ask(404, "GET", "/v1/jobs/copies/tasks/"+rest, "")
	}
	w.ask(200, "POST", "/v1/jobs/copies/cancel", "")
	w.ask(404, "POST", "/v1/jobs/none/cancel", "")
	w.ask(400, "POST", "/v1/jobs/copies/cancel?soon=perhaps", "")
	w.ask(409, "POST", "/v1/jobs/copies/cancel?tasks=0-1", "") // they have ended
	for _, tasks := range []string{"x", "5-2", "1,,2", "-1", "1-", "99999999999999999999"} {
		w.ask(400, "POST", "/v1/jobs/copies/cancel?tasks="+tasks, "")
	}
	var page OutputPage
	if err := json.Unmarshal(w.ask(200, "GET", "/v1/jobs/copies/outputs", ""), &page); err != nil {
		w.t.Fatal(err)
	}
	if page.Total != 2 || page.Next != 2 || len(page.Tasks) != 2 || page.Tasks[1].Params["size"] != "large" {
		w.t.Fatalf("outputs are %+v", page)
	}
	first, second := page.Tasks[0].Outputs, page.Tasks[1].Outputs
	if string(first[len(first)-1].Content) != "a few words" || second[len(second)-1].Content != nil ||
		second[len(second)-1].Size != 11000 {
		w.t.Errorf("outputs are %+v and %+v", first, second)
	}
}

func (w *watcher) askFiles(job string) {
	cid := w.field("cid", "POST", "/v1/files", "content")
	for path, status := range map[string]int{cid: 200, cid + "?job=" + job: 200, "nonsense": 400, cid + "?job=none": 404} {
		w.ask(status, "GET", "/v1/files/"+path, "")
	}
	w.ask(200, "HEAD", "/v1/files/"+cid, "")
	w.ask(400, "HEAD", "/v1/files/nonsense", "")
	w.ask(404, "HEAD", "/v1/files/bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354", "")
	w.ask(400, "GET", "/v1/trees/nonsense", "")
	w.ask(400, "GET", "/v1/trees/"+cid, "")
	w.ask(404, "GET", "/v1/trees/bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354", "")
	w.ask(400, "POST", "/v1/files", "content", "not in base64")
	w.ask(200, "POST", "/v1/keys", "")
	w.ask(404, "POST", "/v1/keys?overlay=nowhere", "")
}

func (w *watcher) askOverlays() {
	w.ask(200, "POST", "/v1/overlays", `{"name": "lab", "admission": "invited"}`)
	w.ask(400, "POST", "/v1/overlays", `{}`)
	w.ask(200, "GET", "/v1/overlays", "")
	w.ask(200, "GET", "/v1/overlays/lab", "")
	w.ask(404, "GET", "/v1/overlays/nowhere", "")
	w.ask(200, "PUT", "/v1/overlays/lab", `{"name": "lab", "admission": "invited", "placement": "lpas"}`)
	w.ask(400, "PUT", "/v1/overlays/lab", `{"owner": "me"}`)
	w.ask(403, "PUT", "/v1/overlays/commons", `{"name": "commons", "replicas": 2}`)
	w.ask(404, "PUT", "/v1/overlays/nowhere", `{"name": "nowhere"}`)
	w.ask(200, "GET", "/v1/overlays/lab/scheduling", "")
	w.ask(200, "GET", "/v1/overlays/commons/credit?days=7", "")
	w.ask(400, "GET", "/v1/overlays/commons/credit?days=0", "")
	w.ask(404, "GET", "/v1/overlays/nowhere/credit", "")
	w.ask(200, "GET", "/v1/credit", "")
	w.ask(400, "GET", "/v1/credit?days=1000", "")
	w.ask(404, "GET", "/v1/overlays/nowhere/scheduling", "")
	w.ask(200, "POST", "/v1/overlays/lab/invite", `{"life_s": 60}`)
	w.ask(400, "POST", "/v1/overlays/lab/invite", `{"life_s": 0}`)
	w.ask(404, "POST", "/v1/overlays/nowhere/invite", `{"life_s": 60}`)
	w.ask(409, "POST", "/v1/overlays/commons/invite", `{"life_s": 60}`)
	w.ask(200, "POST", "/v1/overlays/join", `{"overlay": "night-shift"}`)
	w.ask(400, "POST", "/v1/overlays/join", `{"overlay": " "}`)
	w.ask(200, "DELETE", "/v1/overlays/night-shift", "")
	w.ask(404, "DELETE", "/v1/overlays/nowhere", "")
}

func (w *watcher) askPeers() {
	const stranger = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"
	w.ask(200, "GET", "/v1/peers", "")
	w.ask(404, "GET", "/v1/peers?overlay=nowhere", "")
	w.ask(200, "POST", "/v1/peers", `{"address": "/ip4/127.0.0.1/tcp/1/p2p/`+stranger+`"}`)
	w.ask(400, "POST", "/v1/peers", `{"address": "here"}`)
	w.ask(200, "GET", "/v1/peers/added", "")
	w.ask(200, "DELETE", "/v1/peers/"+stranger, "")
	w.ask(404, "DELETE", "/v1/peers/"+stranger, "")
	w.ask(200, "GET", "/v1/peers/self/history", "")
	w.ask(400, "GET", "/v1/peers/self/history?since=x", "")
	w.ask(404, "GET", "/v1/peers/nobody/history", "")
	w.ask(200, "GET", "/v1/peers/self/forecast?for=2h", "")
	w.ask(400, "GET", "/v1/peers/self/forecast", "")
	w.ask(404, "GET", "/v1/peers/nobody/forecast?for=2h", "")
}

func (w *watcher) askOwner() {
	w.ask(200, "GET", "/metrics", "")
	w.ask(200, "GET", "/healthz", "")
	w.ask(200, "GET", "/readyz", "")
	w.ask(200, "GET", "/v1/status", "")
	w.ask(200, "GET", "/v1/doctor", "")
	w.ask(200, "POST", "/v1/pause", `{"for_s": 60}`)
	w.ask(400, "POST", "/v1/pause", `{"for_s": -1}`)
	w.ask(200, "POST", "/v1/drain", "")
	w.ask(200, "POST", "/v1/resume", "")
}
