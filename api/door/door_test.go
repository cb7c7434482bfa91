package door

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const token = "0123456789abcdef"

// behind is a door with a session in it: its cookie and its token.
func behind(t *testing.T) (h http.Handler, k *Keys, cookie *http.Cookie, csrf string) {
	t.Helper()
	k = NewKeys(token, nil)
	d := Door{Keys: k, Named: Loopback, Open: func(r *http.Request) bool { return r.URL.Path == "/" },
		Refuse: func(w http.ResponseWriter, r Refusal) { http.Error(w, r.Message, r.Status) }}
	h = d.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := CallerOf(r); c != nil {
			io.WriteString(w, c.By)
		}
	}))
	code, _ := k.Code()
	w := httptest.NewRecorder()
	c, err := k.Redeem(w, httptest.NewRequest("GET", "/open", nil), code)
	if err != nil {
		t.Fatal(err)
	}
	return h, k, w.Result().Cookies()[0], c.CSRF
}

// Who may pass: other sites, other names and other methods may not, whatever key comes along.
func TestGuard(t *testing.T) {
	h, _, cookie, csrf := behind(t)
	const own = "http://127.0.0.1:7733"
	tests := []struct {
		name, method, url string
		header            map[string]string
		cookie            bool
		status            int
		by                string
	}{
		{"nobody", "GET", own + "/v1/status", nil, false, 401, ""},
		{"a page", "GET", own + "/", nil, false, 200, ""},
		{"a program", "GET", own + "/v1/status", map[string]string{"Authorization": "Bearer " + token}, false, 200, ByToken},
		{"a program's change", "DELETE", own + "/v1/x", map[string]string{"Authorization": "Bearer " + token}, false, 200,
			ByToken},
		{"a wrong token", "GET", own + "/v1/status", map[string]string{"Authorization": "Bearer x"}, false, 401, ""},
		{"an empty token", "GET", own + "/v1/status", map[string]string{"Authorization": ""}, false, 401, ""},
		{"a wrong token with a cookie", "GET", own + "/v1/x", map[string]string{"Authorization": "Bearer x"}, true, 401, ""},
		{"a browser", "GET", own + "/v1/status", map[string]string{"Sec-Fetch-Site": "same-origin", CSRFHeader: csrf}, true,
			200, ByCookie},
		{"a browser by name", "GET", "http://localhost:7733/v1/status", map[string]string{CSRFHeader: csrf}, true, 200,
			ByCookie},
		{"a browser through a tunnel", "GET", "http://[::1]:9/v1/status", map[string]string{CSRFHeader: csrf}, true, 200,
			ByCookie},
		{"a token without its cookie", "GET", own + "/v1/status", map[string]string{CSRFHeader: csrf}, false, 401, ""},
		{"a page with a cookie alone", "GET", own + "/", nil, true, 200, ""},

		{"GET with a cookie alone", "GET", own + "/v1/status", nil, true, 401, ""},
		{"HEAD with a cookie alone", "HEAD", own + "/v1/files/x", nil, true, 401, ""},
		{"events with a cookie alone", "GET", own + "/v1/events", nil, true, 401, ""},
		{"the session with a cookie alone", "GET", own + "/v1/session", nil, true, 401, ""},
		{"the token in the query", "GET", own + "/v1/status?ticket=" + csrf, nil, true, 401, ""},

		{"a change", "POST", own + "/v1/pause", map[string]string{CSRFHeader: csrf, "Origin": own}, true, 200, ByCookie},
		{"a change without its token", "POST", own + "/v1/pause", map[string]string{"Origin": own}, true, 401, ""},
		{"PUT without its token", "PUT", own + "/v1/x", nil, true, 401, ""},
		{"DELETE without its token", "DELETE", own + "/v1/x", nil, true, 401, ""},
		{"a stale token", "DELETE", own + "/v1/x", map[string]string{CSRFHeader: strings.Repeat("0", 64)}, true, 401, ""},

		{"another name", "GET", "http://evil.example:7733/v1/status", nil, true, 421, ""},
		{"another name with the token", "GET", "http://evil.example/v1/x", map[string]string{"Authorization": "Bearer " +
			token}, false, 421, ""},
		{"a name that looks like it", "GET", "http://localhost.evil.example/v1/status", nil, true, 421, ""},
		{"a name with an address in it", "GET", "http://127.0.0.1.evil.example/", nil, false, 421, ""},
		{"another address", "GET", "http://192.0.2.1/v1/status", nil, true, 421, ""},
		{"all addresses", "GET", "http://0.0.0.0:7733/v1/status", nil, true, 421, ""},

		{"another site posts", "POST", own + "/v1/pause", map[string]string{"Origin": "http://evil.example",
			CSRFHeader: csrf}, true, 403, ""},
		{"another site deletes", "DELETE", own + "/v1/x", map[string]string{"Sec-Fetch-Site": "cross-site",
			CSRFHeader: csrf}, true, 403, ""},
		{"another site puts", "PUT", own + "/v1/x", map[string]string{"Sec-Fetch-Site": "cross-site", CSRFHeader: csrf},
			true, 403, ""},
		{"another port of this machine posts", "POST", own + "/v1/x", map[string]string{"Origin": "http://127.0.0.1:3000",
			"Sec-Fetch-Site": "same-site", CSRFHeader: csrf}, true, 403, ""},
		{"another port of this machine reads", "GET", own + "/v1/x", map[string]string{"Sec-Fetch-Site": "same-site"}, true,
			403, ""},
		{"another site reads", "GET", own + "/v1/events", map[string]string{"Sec-Fetch-Site": "cross-site"}, true, 403, ""},
		{"a page that says it is nowhere", "POST", own + "/v1/x", map[string]string{"Origin": "null", CSRFHeader: csrf}, true,
			403, ""},
		{"over another protocol", "POST", own + "/v1/x", map[string]string{"Origin": "https://127.0.0.1:7733",
			CSRFHeader: csrf}, true, 403, ""},
		{"another site with the token", "POST", own + "/v1/x", map[string]string{"Origin": "http://evil.example",
			"Authorization": "Bearer " + token}, false, 403, ""},
		{"a link from another site", "GET", own + "/", map[string]string{"Sec-Fetch-Site": "cross-site"}, false, 200, ""},
		{"what may I do?", "OPTIONS", own + "/v1/x", map[string]string{"Origin": "http://evil.example"}, true, 405, ""},
		{"TRACE", "TRACE", own + "/v1/x", nil, true, 405, ""},
		{"PATCH", "PATCH", own + "/v1/x", map[string]string{CSRFHeader: csrf}, true, 405, ""},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(tt.method, tt.url, nil)
		for k, v := range tt.header {
			r.Header.Set(k, v)
		}
		if tt.cookie {
			r.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || tt.status == 200 && w.Body.String() != tt.by {
			t.Errorf("%s: %s %s answers %d %q, want %d %q", tt.name, tt.method, tt.url, w.Code, w.Body, tt.status, tt.by)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
				"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, name, got, want)
			}
		}
	}
}

func TestCookie(t *testing.T) {
	_, k, c, _ := behind(t)
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" || c.MaxAge <= 0 {
		t.Errorf("the cookie is %+v", c)
	}
	if other := NewKeys("another", nil); other.cookie == k.cookie {
		t.Error("two nodes of one machine have one name for their cookies")
	}
}

// A code is good once, and for a while; a session as long as it is used, for a week.
func TestCodesAndSessions(t *testing.T) {
	k := NewKeys(token, nil)
	now := time.Unix(1_000_000, 0)
	k.now = func() time.Time { return now }
	tokens := map[string]string{} // by the value of the cookie
	redeem := func(code string) (*http.Cookie, error) {
		w := httptest.NewRecorder()
		caller, err := k.Redeem(w, httptest.NewRequest("GET", "/open", nil), code)
		if err != nil {
			return nil, err
		}
		c := w.Result().Cookies()[0]
		tokens[c.Value] = caller.CSRF
		return c, nil
	}
	lives := func(c *http.Cookie) bool {
		r := httptest.NewRequest("GET", "/", nil)
		r.AddCookie(c)
		r.Header.Set(CSRFHeader, tokens[c.Value])
		return k.sessionOf(r) != nil
	}
	for _, bad := range []string{"", "x", strings.Repeat("0", 2*secretBytes)} {
		if _, err := redeem(bad); err != ErrCode {
			t.Errorf("the code %q: %v", bad, err)
		}
	}
	code, until := k.Code()
	c, err := redeem(code)
	if err != nil || !lives(c) {
		t.Fatal(err)
	}
	if _, err := redeem(code); err != ErrCode {
		t.Errorf("a code is good twice: %v", err)
	}
	late, _ := k.Code()
	now = until
	if _, err := redeem(late); err != ErrCode {
		t.Errorf("a code is good too late: %v", err)
	}
	lives(c)
	for n := range 20 { // each use makes it last
		now = now.Add(idleLife - time.Second)
		if alive, want := lives(c), now.Before(time.Unix(1_000_000, 0).Add(longest)); alive != want {
			t.Fatalf("after %d uses the session lives: %v, want %v", n, alive, want)
		}
	}
	code, _ = k.Code()
	if c, err = redeem(code); err != nil {
		t.Fatal(err)
	}
	now = now.Add(idleLife)
	if lives(c) {
		t.Error("a session lives that nobody used")
	}
}

// What is kept is bounded: the oldest goes.
func TestBounds(t *testing.T) {
	k := NewKeys(token, nil)
	now := time.Unix(1_000_000, 0)
	k.now = func() time.Time { now = now.Add(time.Second); return now }
	first, _ := k.Code()
	for range maxCodes {
		k.Code()
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/open", nil)
	if _, err := k.Redeem(w, r, first); err != ErrCode || len(k.codes) > maxCodes {
		t.Errorf("the first of many codes: %v, with %d kept", err, len(k.codes))
	}
	var tokens []string
	for range maxSessions + 3 {
		code, _ := k.Code()
		c, err := k.Redeem(w, r, code)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, c.CSRF)
	}
	if len(k.sessions) != maxSessions {
		t.Errorf("%d sessions are kept", len(k.sessions))
	}
	cookies := w.Result().Cookies()
	for i, want := range map[int]bool{0: false, len(cookies) - 1: true} {
		r := httptest.NewRequest("DELETE", "/v1/session", nil)
		r.AddCookie(cookies[i])
		r.Header.Set(CSRFHeader, tokens[i])
		if got := k.sessionOf(r) != nil; got != want {
			t.Errorf("session %d lives: %v, want %v", i, got, want)
		}
		if k.Leave(httptest.NewRecorder(), r); k.sessionOf(r) != nil {
			t.Error("a session that was left lives")
		}
	}
}

// A second tab of a browser that is let in keeps the session of the first: neither tab is refused.
func TestSecondTabKeepsTheSession(t *testing.T) {
	k := NewKeys(token, nil)
	now := time.Unix(1_000_000, 0)
	k.now = func() time.Time { return now }
	redeem := func(had *http.Cookie) (*http.Cookie, string) {
		r, w := httptest.NewRequest("GET", "/open", nil), httptest.NewRecorder()
		if had != nil {
			r.AddCookie(had)
		}
		code, _ := k.Code()
		caller, err := k.Redeem(w, r, code)
		if err != nil {
			t.Fatal(err)
		}
		return w.Result().Cookies()[0], caller.CSRF
	}
	first, firstToken := redeem(nil)
	now = now.Add(idleLife - time.Second)
	second, secondToken := redeem(first)
	if first.Value != second.Value || firstToken != secondToken || len(k.sessions) != 1 {
		t.Errorf("the second tab began another session: %d sessions", len(k.sessions))
	}
	now = now.Add(idleLife)
	if third, thirdToken := redeem(second); third.Value == second.Value || thirdToken == secondToken {
		t.Error("a session that was over was continued")
	}
	if forged, _ := redeem(&http.Cookie{Name: k.cookie, Value: "00"}); forged.Value == "00" {
		t.Error("a cookie that the node did not make began a session")
	}
}
