package api

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/api/view"
	"godwit/node"
)

// stranger is a peer that is nowhere.
const stranger = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"

// askPages asks what the dashboard does of a node that has run copies, and failed at another job.
func (w *watcher) askPages(job string) {
	w.t.Helper()
	w.ask(200, "GET", "/v1/home", "")
	w.ask(200, "GET", "/v1/machine", "")
	w.ask(200, "GET", "/v1/joblist?state=done&limit=5", "")
	w.ask(400, "GET", "/v1/joblist?limit=x", "")
	for _, rest := range []string{"/grid", "/timeline", "/failures", "/stages", "/archive"} {
		w.ask(200, "GET", "/v1/jobs/copies"+rest, "")
		w.ask(404, "GET", "/v1/jobs/none"+rest, "")
	}
	for _, rest := range []string{"/grid?bins=0", "/grid?bins=2001", "/timeline?rows=x"} {
		w.ask(400, "GET", "/v1/jobs/copies"+rest, "")
	}
	w.archived(w.ask(200, "GET", "/v1/jobs/"+job+"/archive", ""))
	w.ask(200, "GET", "/v1/swarm", "")
	w.ask(200, "GET", "/v1/swarm?overlay=commons", "")
	w.ask(404, "GET", "/v1/swarm?overlay=nowhere", "")
	w.ask(200, "GET", "/v1/pools", "")
	w.ask(200, "PUT", "/v1/overlays/commons/share", `{"share": 2}`)
	w.ask(400, "PUT", "/v1/overlays/commons/share", `{"share": 0}`)
	w.ask(404, "PUT", "/v1/overlays/nowhere/share", `{"share": 2}`)
	w.ask(200, "POST", "/v1/overlays", `{"name": "few", "admission": "listed", "allowed": ["`+stranger+`"]}`)
	w.ask(200, "DELETE", "/v1/overlays/few/members/"+stranger, "")
	w.ask(404, "DELETE", "/v1/overlays/few/members/"+stranger, "")
	w.ask(409, "DELETE", "/v1/overlays/commons/members/"+stranger, "")
	w.ask(200, "GET", "/v1/research", "")
	w.ask(200, "GET", "/v1/peers/self/trace", "")
	w.ask(404, "GET", "/v1/peers/nobody/trace", "")
	w.ask(200, "GET", "/v1/session", "")
	w.ask(409, "POST", "/v1/session/codes", "") // it has no TCP address
	w.ask(409, "PUT", "/v1/machine/rules/max_cores", `{"value": "1"}`)
	w.listen()
}

// archived holds an archive to the outputs of copies.
func (w *watcher) archived(b []byte) {
	w.t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		w.t.Fatal(err)
	}
	sizes := map[string]int{}
	for _, f := range z.File {
		sizes[f.Name] = int(f.UncompressedSize64)
	}
	if len(sizes) < 2 || sizes["0/stdout"] != len("a few words") || sizes["1/stdout"] != 1000*len("many words ") {
		w.t.Errorf("the archive has %v", sizes)
	}
}

// listen hears a home among the first events.
func (w *watcher) listen() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://node/v1/events", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	w.d.check(w.t, "GET", "/v1/events", resp.StatusCode, resp.Header.Get("Content-Type"), nil)
	w.sent["GET /v1/events"] = map[int]bool{resp.StatusCode: true}
	lines := bufio.NewReader(resp.Body)
	for topic := ""; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			w.t.Fatalf("the stream ended: %v", err)
		}
		if rest, ok := strings.CutPrefix(line, "event: "); ok {
			topic = strings.TrimSpace(rest)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && topic == topicHome {
			w.d.hold(w.t, "events", described+"#/components/schemas/Home", []byte(data))
			return
		}
	}
}

// askRules asks a node with a file of rules, and with pages.
func (w *watcher) askRules() {
	w.t.Helper()
	dir := w.t.TempDir()
	rules := filepath.Join(dir, "rules.yaml")
	n, err := node.New(w.t.Context(), node.Config{DataDir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Cores: 2,
		RulesFile: rules, Experiment: node.Experiment{Runner: node.RunSleep}, Version: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	run(w.t, n.Run)
	s, _ := serve(w.t, n, dir, "127.0.0.1:0")
	o := newWatcher(w.t, dir)
	o.sent = w.sent
	o.ask(200, "PUT", "/v1/machine/rules/idle_time_to_run", `{"value": "10m"}`)
	if b, err := os.ReadFile(rules); err != nil || string(b) != "idle_time_to_run: 10m\n" {
		w.t.Errorf("the file has %q, %v", b, err)
	}
	o.ask(400, "PUT", "/v1/machine/rules/idle_time_to_run", `{"value": "long"}`)
	o.ask(400, "PUT", "/v1/machine/rules/idle_time", `{"value": "10m"}`)
	o.ask(200, "POST", "/v1/machine/preview", `{"key": "hours.monday", "value": "18:00-08:00"}`)
	o.ask(400, "POST", "/v1/machine/preview", `{"key": "hours.moonday", "value": "18:00-08:00"}`)
	if b, err := os.ReadFile(rules); err != nil || string(b) != "idle_time_to_run: 10m\n" {
		w.t.Errorf("after a preview the file has %q, %v", b, err)
	}
	o.ask(400, "POST", "/v1/session", "{")
	o.ask(403, "POST", "/v1/session", `{"code": "x"}`)
	o.ask(403, "POST", "/v1/session", `{"password": "x"}`)
	o.ask(200, "POST", "/v1/session", `{"code": "`+o.field("code", "POST", "/v1/session/codes", "")+`"}`)
	o.ask(200, "DELETE", "/v1/session", "")
	w.askTickets(o, s)
}

// askTickets downloads a file as a page has the browser do.
func (w *watcher) askTickets(o *watcher, s *Server) {
	w.t.Helper()
	o.ask(400, "POST", "/v1/session/tickets", "{")
	o.ask(400, "POST", "/v1/session/tickets", `{"path": "//elsewhere/v1/home"}`)
	o.ask(400, "POST", "/v1/session/tickets", `{"path": "/v1/home?a=b"}`)
	o.ask(403, "POST", "/v1/session/tickets", `{"path": "/v1/home"}`) // a program sends its own key
	b := browser{t: w.t, base: "http://" + s.Addr()}
	var session SessionReply
	if got := b.do("POST", "/v1/session", `{"code": "`+o.field("code", "POST", "/v1/session/codes", "")+`"}`,
		&session); got != http.StatusOK {
		w.t.Fatalf("a code: %d", got)
	}
	b.csrf = session.CSRF
	var ticket TicketReply
	const path, asked = "/v1/peers/self/trace", "/v1/session/tickets"
	got := b.do("POST", asked, `{"path": "`+path+`"}`, &ticket)
	w.d.check(w.t, "POST", asked, got, "application/json", []byte(b.body))
	w.sent["POST "+asked][got] = true
	b.csrf = ""
	for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		if got := b.get(ticket.URL); got != want || !strings.HasPrefix(ticket.URL, path) {
			w.t.Errorf("%s answers %d, want %d", ticket.URL, got, want)
		}
	}
}

// A browser comes in by a link that is good once, changes something with its token alone, and is out again.
func TestBrowser(t *testing.T) {
	n, dir := startNode(t)
	s, _ := serve(t, n, dir, "127.0.0.1:0")
	local := Dial(dir)
	defer local.Close()
	link, err := local.OpenCode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := browser{t: t, base: "http://" + s.Addr()}
	if got := b.get("/v1/home"); got != http.StatusUnauthorized {
		t.Errorf("without a session: %d", got)
	}
	if got := b.do("HEAD", strings.TrimPrefix(link.URL, b.base), "", nil); got != http.StatusOK {
		t.Errorf("who looks at the link first gets %d", got)
	}
	if got := b.get(strings.TrimPrefix(link.URL, b.base)); got != http.StatusSeeOther || b.cookie == nil {
		t.Fatalf("the link answers %d with the cookie %v", got, b.cookie)
	}
	token := strings.TrimPrefix(b.location, "/#session=")
	if got := (&browser{t: t, base: b.base}).get(strings.TrimPrefix(link.URL, b.base)); got != http.StatusForbidden {
		t.Errorf("the link is good twice: %d", got)
	}
	for path, want := range map[string]int{"/": 200, "/ui/app.js": 200, "/ui/none.js": 404, "/ui/": 404, "/none": 401} {
		if got := (&browser{t: t, base: b.base}).get(path); got != want {
			t.Errorf("without a session %s answers %d, want %d", path, got, want)
		}
	}
	if got := b.do("POST", "/v1/pause", `{"for_s": 60}`, nil); got != http.StatusUnauthorized {
		t.Errorf("a change with the cookie alone: %d", got)
	}
	b.csrf = token
	var session SessionReply
	if got := b.do("GET", "/v1/session", "", &session); got != http.StatusOK || session.By != "cookie" || session.CSRF != "" {
		t.Errorf("the session is %+v: %d", session, got)
	}
	var home view.Home
	if got := b.do("POST", "/v1/pause", `{"for_s": 60}`, nil); got != http.StatusOK {
		t.Errorf("a change: %d", got)
	}
	if got := b.do("GET", "/v1/home", "", &home); got != http.StatusOK || !home.Paused ||
		!strings.Contains(home.Sentence, "paused") {
		t.Errorf("home is %+v: %d", home, got)
	}
	if got := b.do("POST", "/v1/session/codes", "", nil); got != http.StatusForbidden {
		t.Errorf("a browser makes a link for another: %d", got)
	}
	var ticket TicketReply
	if got := b.do("POST", "/v1/session/tickets", `{"path": "/v1/peers/self/trace"}`, &ticket); got != http.StatusOK {
		t.Errorf("a ticket: %d", got)
	}
	if got := b.do("DELETE", "/v1/session", "", nil); got != http.StatusOK {
		t.Errorf("leaving: %d", got)
	}
	for _, path := range []string{"/v1/home", ticket.URL} {
		if got := b.get(path); got != http.StatusUnauthorized {
			t.Errorf("after leaving %s answers %d", path, got)
		}
	}
}

// A browser that follows no redirection, and keeps one cookie.
type browser struct {
	t        *testing.T
	base     string
	client   http.Client
	cookie   *http.Cookie
	csrf     string
	location string // where the last answer leads
	body     string // of the last answer
}

func (b *browser) get(path string) int { return b.do("GET", path, "", nil) }

func (b *browser) do(method, path, body string, out any) int {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if b.cookie != nil {
		req.AddCookie(b.cookie)
	}
	if b.csrf != "" {
		req.Header.Set("Godwit-CSRF", b.csrf)
	}
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		b.cookie = c
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	b.location, b.body = resp.Header.Get("Location"), string(text)
	if out != nil && resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, out); err != nil {
			b.t.Fatal(err)
		}
	}
	return resp.StatusCode
}

// To other machines the dashboard is served over TLS, once there is a password.
func TestLAN(t *testing.T) {
	n, dir := startNode(t)
	s, err := NewServer(n, dir, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ServeLAN("127.0.0.1:0"); err == nil {
		t.Error("served without a password")
	}
	const password = "correct horse battery"
	setTestPassword(t, dir, password)
	fingerprint, err := s.ServeLAN("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	run(t, s.Run)
	b := browser{t: t, base: "https://" + s.LANAddr(), client: http.Client{Transport: trusting(t, fingerprint)}}
	defer b.client.CloseIdleConnections()
	if got := b.get("/v1/home"); got != http.StatusUnauthorized {
		t.Errorf("without a session: %d", got)
	}
	if got := b.do("POST", "/v1/session", `{"password": "wrong password"}`, nil); got != http.StatusForbidden {
		t.Errorf("a wrong password: %d", got)
	}
	var session SessionReply
	if got := b.do("POST", "/v1/session", `{"password": "`+password+`"}`, &session); got != http.StatusOK ||
		!b.cookie.Secure || session.CSRF == "" {
		t.Fatalf("the password: %d with the cookie %v and the session %+v", got, b.cookie, session)
	}
	if got := b.get("/v1/session"); got != http.StatusUnauthorized || strings.Contains(b.body, session.CSRF) {
		t.Errorf("with the cookie alone: %d %s", got, b.body)
	}
	b.csrf = session.CSRF
	if got := b.get("/v1/home"); got != http.StatusOK {
		t.Errorf("with a session: %d", got)
	}
}
