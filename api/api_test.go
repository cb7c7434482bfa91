package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// startNode runs a node of two cores that sleeps instead of working.
func startNode(t *testing.T) (*node.Node, string) {
	t.Helper()
	dir := t.TempDir()
	n, err := node.New(t.Context(), node.Config{
		DataDir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Cores: 2,
		Experiment: node.Experiment{Runner: node.RunSleep}, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, n.Run)
	return n, dir
}

// run runs f until the test ends, or until stop is called.
func run(t *testing.T, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f(ctx); close(ended) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("running: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// serve starts the API of a node, on TCP too if there is an address.
func serve(t *testing.T, n *node.Node, dir, addr string) (s *Server, stop func()) {
	t.Helper()
	s, err := NewServer(n, dir, addr, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s, run(t, s.Run)
}

// dialed returns the client of a node of its own.
func dialed(t *testing.T) *Client {
	t.Helper()
	n, dir := startNode(t)
	serve(t, n, dir, "")
	c := Dial(dir)
	t.Cleanup(c.Close)
	return c
}

func request(t *testing.T, c *Client, name string, tasks int, work string) SubmitRequest {
	t.Helper()
	f, err := c.PutFile(t.Context(), strings.NewReader("not run"))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("name: %s\nmodule: m.wasm\nwork: %s\nsweep:\n  n: {from: 1, to: %d}\n", name, work, tasks)
	return SubmitRequest{FileName: "job.yaml", File: text, Module: f.CID}
}

func submit(t *testing.T, c *Client, name string, tasks int, work string) string {
	t.Helper()
	id, err := c.Submit(t.Context(), request(t, c, name, tasks, work))
	if err != nil {
		t.Fatal(err)
	}
	return string(id)
}

// await watches a job until ok.
func await(t *testing.T, c *Client, ref string, ok func(message.JobStatus) bool) message.JobStatus {
	t.Helper()
	var last message.JobStatus
	err := c.Watch(t.Context(), ref, func(st message.JobStatus) bool {
		last = st
		return !ok(st)
	})
	if err != nil || !ok(last) {
		t.Fatalf("watching %s ended with %+v, %v", ref, last, err)
	}
	return last
}

func final(st message.JobStatus) bool { return st.Final }

// wantError checks an answer that is not 2xx.
func wantError(t *testing.T, what string, err error, status int, kind, text string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Status != status || e.Kind != kind || !strings.Contains(e.Message, text) {
		t.Errorf("%s: %#v (%v), want %d, kind %s and a word of %q", what, e, err, status, kind, text)
	}
}

// The whole way of a job: its results come in pages, and verify.
func TestJob(t *testing.T) {
	c := dialed(t)
	id := submit(t, c, "sweep", 250, "1ms")
	st := await(t, c, id, final)
	if st.State != message.JobDone || st.Tasks.Done != 250 || st.Held != 250 {
		t.Errorf("the job ended as %+v", st)
	}
	next := uint64(0)
	for _, want := range []int{resultPage, 250 - resultPage, 0} {
		page, err := c.Results(t.Context(), "sweep", next)
		if err != nil || page.Total != 250 || len(page.Tasks) != want {
			t.Fatalf("page from %d has %d of %d tasks, want %d: %v", next, len(page.Tasks), page.Total, want, err)
		}
		for _, r := range page.Tasks {
			if r.Index != next || r.Results[0].Verify() != nil {
				t.Fatalf("result %d is %+v", next, r)
			}
			next++
		}
	}
	full, err := c.Job(t.Context(), id)
	if err != nil || len(full.TasksList) != 250 || full.TasksList[249].Params["n"] != "250" {
		t.Errorf("status lists %d tasks, %v", len(full.TasksList), err)
	}
	if jobs, err := c.Jobs(t.Context()); err != nil || len(jobs) != 1 || string(jobs[0].ID) != id ||
		jobs[0].TasksList != nil {
		t.Errorf("jobs are %+v, %v", jobs, err)
	}
}

// A job that runs can be explained and cancelled; its watcher hears the end.
func TestWhyAndCancel(t *testing.T) {
	c := dialed(t)
	id := submit(t, c, "long", 9, "1h")
	await(t, c, id, func(st message.JobStatus) bool { return st.Tasks.Running > 0 })
	why, err := c.Why(t.Context(), "long", nil)
	if err != nil || why.Asked != 9 || why.Total != 9 || len(why.Reasons) == 0 || why.Reasons[0].Reason == "" {
		t.Errorf("why is %+v, %v", why, err)
	}
	last, beyond := uint64(8), uint64(9)
	if why, err := c.Why(t.Context(), id, &last); err != nil || why.Asked != 1 || why.Reasons[0].First != 8 {
		t.Errorf("why of the last is %+v, %v", why, err)
	}
	_, err = c.Why(t.Context(), id, &beyond)
	wantError(t, "why of a task that is not", err, http.StatusNotFound, KindNotFound, "tasks 0 to 8")
	if got, err := c.Cancel(t.Context(), "long"); err != nil || string(got) != id {
		t.Errorf("cancelled %q, %v", got, err)
	}
	if st := await(t, c, id, final); st.State != message.JobCancelled {
		t.Errorf("the job ended as %q", st.State)
	}
	if _, err := c.Cancel(t.Context(), id); err != nil {
		t.Errorf("cancelling again: %v", err)
	}
}

// A job that is over can be forgotten with its results; one that is not cannot.
func TestForget(t *testing.T) {
	c := dialed(t)
	id := submit(t, c, "done", 3, "1ms")
	await(t, c, id, final)
	long := submit(t, c, "long", 3, "1h")
	_, err := c.Forget(t.Context(), long)
	wantError(t, "forgetting a job that runs", err, http.StatusConflict, KindRefused, "not over")
	if got, err := c.Forget(t.Context(), "done"); err != nil || string(got) != id {
		t.Errorf("forgot %q, %v", got, err)
	}
	_, err = c.Results(t.Context(), id, 0)
	wantError(t, "results of a forgotten job", err, http.StatusNotFound, KindNotFound, "")
	_, err = c.Forget(t.Context(), id)
	wantError(t, "forgetting again", err, http.StatusNotFound, KindNotFound, "")
}

// A job goes by its ID, its name, or as much of the ID as no other has.
func TestReferences(t *testing.T) {
	c := dialed(t)
	one, two := submit(t, c, "twin", 1, "1ms"), submit(t, c, "twin", 1, "1ms")
	submit(t, c, `"a job, 100% / \"mine\"?"`, 1, "1ms")
	for _, ref := range []string{one, one[len(one)-8:], one[:len(one)-4], two[len(two)-8:]} {
		st, err := c.Job(t.Context(), ref)
		if err != nil || !strings.Contains(string(st.ID), ref) {
			t.Errorf("%q is %s, %v", ref, st.ID, err)
		}
	}
	if st, err := c.Job(t.Context(), `a job, 100% / "mine"?`); err != nil || st.Name != `a job, 100% / "mine"?` {
		t.Errorf("a name of odd characters is %q, %v", st.Name, err)
	}
	for _, ref := range []string{"twin", one[:4]} {
		_, err := c.Job(t.Context(), ref)
		wantError(t, ref, err, http.StatusConflict, KindInput, "names")
	}
	valid := one[:len(one)-8] + "aaaaaaaa"
	for _, ref := range []string{"none", one[:3], "", ".", "..", "../status", "a/b", "a%2Fb", "?", "#", "\x00\xff",
		"é ü", strings.Repeat("x", 10_000), valid} {
		_, err := c.Job(t.Context(), ref)
		wantError(t, fmt.Sprintf("status of %.40q", ref), err, http.StatusNotFound, KindNotFound, "")
		_, err = c.Results(t.Context(), ref, 0)
		wantError(t, fmt.Sprintf("results of %.40q", ref), err, http.StatusNotFound, KindNotFound, "")
		_, err = c.Cancel(t.Context(), ref)
		wantError(t, fmt.Sprintf("cancel of %.40q", ref), err, http.StatusNotFound, KindNotFound, "")
		_, err = c.Why(t.Context(), ref, nil)
		wantError(t, fmt.Sprintf("why of %.40q", ref), err, http.StatusNotFound, KindNotFound, "")
		err = c.Watch(t.Context(), ref, func(message.JobStatus) bool { return false })
		wantError(t, fmt.Sprintf("watch of %.40q", ref), err, http.StatusNotFound, KindNotFound, "")
	}
}

func TestFiles(t *testing.T) {
	c := dialed(t)
	data := bytes.Repeat([]byte("godwit "), 300_000)
	f, err := c.PutFile(t.Context(), bytes.NewReader(data))
	if err != nil || f.Size != int64(len(data)) {
		t.Fatalf("stored %+v, %v", f, err)
	}
	r, err := c.OpenFile(t.Context(), f.CID)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	_, err = c.OpenFile(t.Context(), f.CID[:len(f.CID)-4]+"aaaa")
	wantError(t, "a file that is not here", err, http.StatusNotFound, KindNotFound, "not found")
	_, err = c.OpenFile(t.Context(), "nonsense")
	wantError(t, "a CID that is none", err, http.StatusBadRequest, KindInput, "nonsense")
	_, err = c.Tree(t.Context(), "nonsense")
	wantError(t, "a tree that is none", err, http.StatusBadRequest, KindInput, "nonsense")
	if _, err = c.Tree(t.Context(), task.RawCID(data)); err == nil {
		t.Error("a file is listed as a tree")
	}
}

// A file that is put under a key is stored sealed; it is read as it is stored, and opened for
// who names its job. Keys are made for closed overlays alone.
func TestSealedFiles(t *testing.T) {
	c := dialed(t)
	if key, err := c.NewKey(t.Context(), ""); err != nil || len(key) > 0 {
		t.Errorf("an open pool has the key %x, %v", key, err)
	}
	lab, err := c.CreateOverlay(t.Context(), node.OverlayRules{Name: "lab", Admission: node.AdmitInvited})
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.NewKey(t.Context(), "lab")
	if err != nil || len(key) != task.KeySize {
		t.Fatalf("a closed overlay has the key %x, %v", key, err)
	}
	_, err = c.NewKey(t.Context(), "nowhere")
	wantError(t, "a key of no overlay", err, http.StatusNotFound, KindNotFound, "")

	data := bytes.Repeat([]byte("godwit "), 100_000)
	sealer, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.PutSealed(t.Context(), key, bytes.NewReader(data))
	if err != nil || f.Size != sealer.Size(int64(len(data))) {
		t.Fatalf("stored %+v, %v", f, err)
	}
	_, err = c.PutSealed(t.Context(), key[1:], bytes.NewReader(data))
	wantError(t, "a short key", err, http.StatusBadRequest, KindInput, "a key of 31 bytes")

	req := request(t, c, "sealed", 1, "1h")
	req.File = "module: m.wasm\nfiles: [in]\n"
	req.Inputs, req.Overlay = []task.FileRef{{Name: "in", CID: f.CID, Size: f.Size}}, string(lab.ID)
	for name, other := range map[string][]byte{"another": make([]byte, task.KeySize), "half a": key[:16]} {
		req.Key = other
		_, err = c.Submit(t.Context(), req)
		wantError(t, "inputs under "+name+" key", err, http.StatusBadRequest, KindInput, "seal: ")
	}
	req.Key = key
	id, err := c.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]byte{"": sealer.SealFile(data), "?job=" + string(id): data, "?job=sealed": nil} {
		resp, err := c.do(t.Context(), http.MethodGet, "/v1/files/"+string(f.CID)+query, nil)
		if want == nil {
			wantError(t, query, err, http.StatusNotFound, KindNotFound, "")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(got, want) || resp.ContentLength != int64(len(want)) {
			t.Errorf("%q reads %d bytes of %d, %v; want %d", query, len(got), resp.ContentLength, err, len(want))
		}
	}
	page, err := c.Results(t.Context(), string(id), 0)
	if err != nil || page.Record == nil || !bytes.Equal(page.Record.Key, key) {
		t.Errorf("its results come with %+v, %v", page.Record, err)
	}
}

// Whatever is wrong with a request is told in the same form, by what the caller
// can do about it.
func TestBadRequests(t *testing.T) {
	c := dialed(t)
	id := submit(t, c, "job", 1, "1ms")
	tests := []struct {
		method, path, body string
		status             int
		kind, text         string
	}{
		{"POST", "/v1/jobs", "", 400, KindInput, "reading the submission"},
		{"POST", "/v1/jobs", "{", 400, KindInput, "reading the submission"},
		{"POST", "/v1/jobs", "[]", 400, KindInput, "reading the submission"},
		{"POST", "/v1/jobs", "{}", 400, KindInput, ""},
		{"POST", "/v1/jobs", `{"file_name":"j.yaml","file":"modul: x"}`, 400, KindInput, "j.yaml"},
		{"POST", "/v1/jobs", `{"file":"` + strings.Repeat("x", MaxJobFile) + `"}`, 413, KindInput, "too large"},
		{"GET", "/v1/jobs/" + id + "?from=x", "", 400, KindInput, "from"},
		{"GET", "/v1/jobs/" + id + "?limit=-1", "", 400, KindInput, "limit"},
		{"GET", "/v1/jobs/" + id + "/results?from=-1", "", 400, KindInput, "from"},
		{"GET", "/v1/jobs/" + id + "/why?index=x", "", 400, KindInput, "index"},
		{"GET", "/v1/nothing", "", 404, KindNotFound, "/v1/nothing"},
		{"GET", "/", "", 404, KindNotFound, "/"},
		{"POST", "/v1/status", "", 404, KindNotFound, "POST /v1/status"},
		{"DELETE", "/v1/jobs/" + id, "", 404, KindNotFound, "DELETE"},
	}
	for _, tt := range tests {
		var out json.RawMessage
		err := c.call(t.Context(), tt.method, tt.path, strings.NewReader(tt.body), &out)
		wantError(t, tt.method+" "+tt.path, err, tt.status, tt.kind, tt.text)
	}
}

// Errors are sorted by what the caller can do; the command line makes exit
// codes of the kinds.
func TestErrorKinds(t *testing.T) {
	_, badFile := task.ParseFile("j.yaml", []byte("modul: x"))
	tests := []struct {
		err    error
		status int
		kind   string
		hint   bool
	}{
		{badFile, 400, KindInput, true},
		{fmt.Errorf("reading: %w", &http.MaxBytesError{Limit: 1}), 413, KindInput, false},
		{fmt.Errorf("asking: %w", node.ErrUnknownJob), 404, KindNotFound, true},
		{fmt.Errorf("%w: too many", node.ErrRefused), 403, KindRefused, false},
		{fmt.Errorf("importing: %w", blocks.ErrQuota), 507, KindRefused, true},
		{node.ErrNoLeader, 503, KindUnreachable, true},
		{fmt.Errorf("%w: gone", node.ErrLeaderSilent), 503, KindUnreachable, true},
		{fmt.Errorf("asking: %w", context.DeadlineExceeded), 503, KindUnreachable, true},
		{errors.New("no space left"), 500, KindInternal, false},
		{node.ErrStopped, 500, KindInternal, false},
	}
	for _, tt := range tests {
		e := asError(tt.err)
		if e.Status != tt.status || e.Kind != tt.kind || e.Message != tt.err.Error() || (e.Hint != "") != tt.hint {
			t.Errorf("%v becomes %+v, want %d %s", tt.err, *e, tt.status, tt.kind)
		}
	}
}

// On TCP the token of the data directory is needed; on the socket its mode does.
func TestTokenAndFiles(t *testing.T) {
	n, dir := startNode(t)
	s, stop := serve(t, n, dir, "127.0.0.1:0")
	for _, name := range []string{SocketName, TokenName, AddrName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
	token := read(t, dir, TokenName)
	if addr := read(t, dir, AddrName); addr != s.Addr() || len(token) < 2*tokenBytes {
		t.Errorf("%s has %q, the server is at %q; the token has %d characters", AddrName, addr, s.Addr(), len(token))
	}
	for _, bad := range []string{"", " ", "x", token[1:], token + "0", strings.ToUpper(token)} {
		c := DialTCP(s.Addr(), bad)
		_, err := c.Status(t.Context())
		wantError(t, "token "+bad, err, http.StatusUnauthorized, KindAuth, "token")
		var e *Error
		if errors.As(err, &e) && !strings.Contains(e.Hint, TokenName) {
			t.Errorf("the hint %q does not name the file", e.Hint)
		}
		c.Close()
	}
	c := DialTCP(s.Addr(), token+"\n")
	defer c.Close()
	if st, err := c.Status(t.Context()); err != nil || st.PeerID != n.ID() || st.Version != "test" || st.Slots != 2 {
		t.Errorf("status is %+v, %v", st, err)
	}
	if m, err := c.Peers(t.Context(), ""); err != nil || len(m) != 1 || strings.Join(m[0].Roles, " ") != "leader self" {
		t.Errorf("peers are %+v, %v", m, err)
	}
	await(t, c, submit(t, c, "tcp", 3, "1ms"), final)

	c.Close()
	stop()
	for _, name := range []string{SocketName, AddrName} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left after the end: %v", name, err)
		}
	}
	for _, c := range []*Client{Dial(dir), DialTCP(s.Addr(), token)} {
		if _, err := c.Status(t.Context()); !errors.Is(err, ErrNoNode) {
			t.Errorf("asking where nobody is: %v", err)
		}
	}
	again, err := NewServer(n, dir, "localhost:0", slog.New(slog.DiscardHandler))
	if err != nil || again.token != token {
		t.Fatalf("the next server has another token: %v", err)
	}
	run(t, again.Run)
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Nobody else's machine may be let in, and a server that does not start leaves
// no socket.
func TestNotOnLoopback(t *testing.T) {
	n, dir := startNode(t)
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80", "example.com:80",
		"localhost.example.com:80", "127.0.0.1", "nonsense"} {
		if _, err := NewServer(n, dir, addr, slog.New(slog.DiscardHandler)); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("%q", addr)) {
			t.Errorf("%s: %v, want a refusal that names it", addr, err)
		}
		if _, err := os.Stat(filepath.Join(dir, SocketName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a socket is left: %v", addr, err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := NewServer(n, dir, taken.Addr().String(), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a port in use was listened on")
	}
}

// What a killed node left does not stop the next, nor lead anybody astray.
func TestLeftovers(t *testing.T) {
	n, dir := startNode(t)
	old, err := net.Listen("unix", filepath.Join(dir, SocketName))
	if err != nil {
		t.Fatal(err)
	}
	old.(*net.UnixListener).SetUnlinkOnClose(false)
	old.Close()
	for name, text := range map[string]string{AddrName: "127.0.0.1:1", TokenName: strings.Repeat(" ", 2*tokenBytes)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := Dial(dir)
	defer c.Close()
	if _, err := c.Status(t.Context()); !errors.Is(err, ErrNoNode) {
		t.Errorf("asking a dead socket: %v", err)
	}
	s, _ := serve(t, n, dir, "")
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("asking the socket that replaced it: %v", err)
	}
	if s.Addr() != filepath.Join(dir, SocketName) {
		t.Errorf("the server is at %q", s.Addr())
	}
	if _, err := os.Stat(filepath.Join(dir, AddrName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead node's address is left: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, TokenName))
	if err != nil || info.Mode().Perm() != 0o600 || len(strings.TrimSpace(read(t, dir, TokenName))) < 2*tokenBytes {
		t.Errorf("a token of blanks was kept, or is readable by all: %v, %v", info.Mode(), err)
	}
}

// Content that begins as a program does is stored like any other, however short, sealed or not.
func TestProgramsAreStored(t *testing.T) {
	c := dialed(t)
	for _, content := range []string{"", "\x00", "\x00as", "\x00asm", "\x00asm\x01\x00\x00\x00", "\x00asn, and more"} {
		f, err := c.PutFile(t.Context(), strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := blocks.CIDOfBytes([]byte(content)); err != nil || f.CID != want || f.Size != int64(len(content)) {
			t.Errorf("%q: stored as %s, %d bytes, want %s (%v)", content, f.CID, f.Size, want, err)
		}
		if _, err := c.PutSealed(t.Context(), bytes.Repeat([]byte{1}, 32), strings.NewReader(content)); err != nil {
			t.Errorf("%q, sealed: %v", content, err)
		}
	}
}

// A name that several jobs have is refused with the ends of the newest, of which any will do.
func TestNameOfManyJobs(t *testing.T) {
	var jobs []message.JobStatus
	for i := range 7 {
		jobs = append(jobs, message.JobStatus{ID: task.JobID(fmt.Sprintf("bafyreiabcdefgh%04d", 9-i)), Name: "fit"})
	}
	_, err := resolve("fit", jobs)
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusConflict || !strings.Contains(e.Message, "7 jobs") {
		t.Fatalf("got %v", err)
	}
	if want := "cdefgh0009, cdefgh0008, cdefgh0007, cdefgh0006, cdefgh0005 and 2 more"; !strings.Contains(e.Hint, want) {
		t.Errorf("hint %q, want %q in it", e.Hint, want)
	}
	if id, err := resolve("cdefgh0007", jobs); err != nil || id != jobs[2].ID {
		t.Errorf("by its end: %s, %v", id, err)
	}
}

// Content that is not there is refused with the place of small outputs, of which only their results have the bytes.
func TestContentThatIsNotThere(t *testing.T) {
	c := dialed(t)
	missing, err := blocks.CIDOfBytes([]byte("never stored"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.do(t.Context(), http.MethodGet, "/v1/files/"+string(missing), nil)
	if err == nil {
		resp.Body.Close()
	}
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusNotFound || !strings.Contains(e.Hint, "/outputs/") {
		t.Errorf("got %v, %+v", err, e)
	}
}
