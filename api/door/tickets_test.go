package door

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A ticket opens one path once, for its own session, within a minute, and nothing else.
func TestTicketOpensItsPathOnce(t *testing.T) {
	h, k, _, _ := behind(t)
	now := time.Unix(1_000_000, 0)
	k.now = func() time.Time { return now }
	k.sessions = map[digest]*session{}
	begin := func() (*http.Cookie, string) {
		w := httptest.NewRecorder()
		c := k.begin(w, httptest.NewRequest("GET", "/open", nil))
		return w.Result().Cookies()[0], c.CSRF
	}
	cookie, csrf := begin()
	other, _ := begin()
	ticket := func(path string) string {
		t.Helper()
		r := httptest.NewRequest("POST", "/v1/session/tickets", nil)
		r.AddCookie(cookie)
		value, _, err := k.Ticket(with(r, &Caller{By: ByCookie}), path)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	get := func(method, path, ticket string, c *http.Cookie) int {
		r := httptest.NewRequest(method, "http://127.0.0.1"+path+"?ticket="+ticket, nil)
		if c != nil {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	const path = "/v1/jobs/a/archive"
	good := ticket(path)
	if got := get("GET", path, good, other); got != http.StatusUnauthorized {
		t.Errorf("with another session's cookie: %d", got)
	}
	if got := get("GET", path, good, nil); got != http.StatusUnauthorized {
		t.Errorf("without a cookie: %d", got)
	}
	if got := get("GET", path, good, cookie); got != http.StatusOK {
		t.Errorf("for its path: %d", got)
	}
	if got := get("GET", path, good, cookie); got != http.StatusUnauthorized {
		t.Errorf("a second time: %d", got)
	}
	for name, got := range map[string]int{
		"another path":  get("GET", "/v1/home", ticket(path), cookie),
		"another query": get("GET", path, ticket(path)+"&x=1", cookie),
		"a change":      get("POST", path, ticket(path), cookie),
		"no ticket":     get("GET", path, "", cookie),
	} {
		if got != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got)
		}
	}
	late := ticket(path)
	now = now.Add(ticketLife)
	if got := get("GET", path, late, cookie); got != http.StatusUnauthorized {
		t.Errorf("after its time: %d", got)
	}
	for range 2 * maxTickets {
		ticket(path)
	}
	if len(k.tickets) > maxTickets {
		t.Errorf("%d tickets are kept", len(k.tickets))
	}
	r := httptest.NewRequest("POST", "/v1/session/tickets", nil)
	r.AddCookie(cookie)
	r.Header.Set(CSRFHeader, csrf)
	for name, r := range map[string]*http.Request{"no caller": with(r, nil), "a program": with(r, &Caller{By: ByToken}),
		"the socket": r} {
		if _, _, err := k.Ticket(r, path); err != ErrTicket {
			t.Errorf("%s gets a ticket: %v", name, err)
		}
	}
}
