package api

import (
	"net/http"
	"strings"
	"testing"

	"godwit/node"
)

// letIn is a browser that came in by a link, with the token of its session.
func letIn(t *testing.T, s *Server, local *Client) *browser {
	t.Helper()
	link, err := local.OpenCode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, base: "http://" + s.Addr()}
	b.get(strings.TrimPrefix(link.URL, b.base))
	token, ok := strings.CutPrefix(b.location, "/#session=")
	if !ok || len(token) != 64 || b.cookie == nil {
		t.Fatalf("the link leads to %q with the cookie %v", b.location, b.cookie)
	}
	b.csrf = token
	return b
}

// A browser that sends its cookie alone, or a wrong token, is refused by every route, and gets no token from it: a server
// on another port of this machine receives the cookie.
func TestEveryRequestNeedsItsToken(t *testing.T) {
	n, dir := startNode(t)
	s, _ := serve(t, n, dir, "127.0.0.1:0")
	local := Dial(dir)
	defer local.Close()
	b := letIn(t, s, local)
	asked := 0
	s.each(func(pattern string, _ handler) {
		method, path, _ := strings.Cut(pattern, " ")
		if pattern == "POST /v1/session" { // it begins a session
			return
		}
		asked++
		path = strings.NewReplacer("{id}", node.DefaultOverlay, "{peer}", stranger, "{key}", "max_cores", "{task}", "0",
			"{name...}", "x", "{cid}", "x").Replace(path)
		for _, token := range []string{"", strings.Repeat("0", len(b.csrf))} {
			o := &browser{t: t, base: b.base, cookie: b.cookie, csrf: token}
			if got := o.do(method, path, `{"path": "/v1/jobs"}`, nil); got != http.StatusUnauthorized {
				t.Errorf("%s with the token %q answers %d, want 401", pattern, token, got)
			}
			if strings.Contains(o.body, b.csrf) {
				t.Errorf("%s with the token %q answers with the session's token", pattern, token)
			}
		}
	})
	if asked < 50 {
		t.Errorf("the API has %d routes: this test looks at too few", asked)
	}
}

// A founder changes the rules of a pool from a page, and nobody those of another's; what is wrong changes nothing.
func TestPageChangesRules(t *testing.T) {
	n, dir := startNode(t)
	s, _ := serve(t, n, dir, "127.0.0.1:0")
	local := Dial(dir)
	defer local.Close()
	made, err := local.CreateOverlay(t.Context(), node.OverlayRules{Name: "lab", Admission: node.AdmitInvited})
	if err != nil {
		t.Fatal(err)
	}
	b := letIn(t, s, local)
	token := b.csrf
	for _, tt := range []struct {
		name, token, pool, rules string
		status                   int
		version                  uint64
	}{
		{"without the token", "", "lab", `{"name": "lab", "placement": "flp"}`, 401, 0},
		{"no policy", token, "lab", `{"name": "lab", "placement": "best"}`, 400, 0},
		{"an unknown rule", token, "lab", `{"name": "lab", "owner": "me"}`, 400, 0},
		{"a pool without a founder", token, "commons", `{"name": "commons", "replicas": 2}`, 403, 0},
		{"no pool", token, "nowhere", `{"name": "nowhere"}`, 404, 0},
		{"its founder", token, "lab", `{"name": "lab", "placement": "flp", "admission": "invited"}`, 200, 1},
	} {
		b.csrf = tt.token
		if got := b.do("PUT", "/v1/overlays/"+tt.pool, tt.rules, nil); got != tt.status {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.status)
		}
		d, err := local.Overlay(t.Context(), string(made.ID))
		if err != nil || d.Version != tt.version || (d.Rules.Placement == "flp") != (tt.version == 1) {
			t.Errorf("%s: version %d has the placement %q, %v", tt.name, d.Version, d.Rules.Placement, err)
		}
	}
}
