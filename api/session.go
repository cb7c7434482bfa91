package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"godwit/api/door"
	"godwit/api/web"
	"godwit/task"
)

// A SessionRequest asks for a session: with a one-time code, or with the password over TLS.
type SessionRequest struct {
	Code     string `json:"code,omitempty"`
	Password string `json:"password,omitempty"`
}

// SessionReply describes the caller of the API.
type SessionReply struct {
	By string `json:"by"` // door.BySocket, door.ByToken or door.ByCookie
	// CSRF is the token that a page sends in the header Godwit-CSRF with every request. Only the answer that begins the
	// session contains it.
	CSRF    string    `json:"csrf,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // when the session ends unless it is used
}

// A CodeReply is a one-time code with which a browser gets a session.
type CodeReply struct {
	Code    string    `json:"code"`
	URL     string    `json:"url"` // that opens the dashboard with it
	Expires time.Time `json:"expires"`
}

// TicketRequest requests a ticket with which a browser downloads a file.
type TicketRequest struct {
	Path string `json:"path"` // of the file, escaped, below /v1/
}

// TicketReply is a ticket for a single download.
type TicketReply struct {
	URL     string    `json:"url"` // path with the ticket
	Expires time.Time `json:"expires"`
}

// maxSessionBody bounds a SessionRequest and a TicketRequest, in bytes.
const maxSessionBody = 4 << 10

// maxShownPath bounds the part of a path that an error repeats, in bytes.
const maxShownPath = 200

// openPath is where a browser brings a one-time code.
const openPath = "/open"

// opened reports whether a request is answered without a key: the pages themselves, in which nothing is of the
// node, and what begins a session.
func opened(r *http.Request) bool {
	switch p := r.URL.Path; {
	case r.Method == http.MethodPost:
		return p == "/v1/session"
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return false
	default:
		return p == "/" || p == openPath || strings.HasPrefix(p, web.Prefix)
	}
}

// sessions are how browsers come in and go.
type sessions struct{ *Server }

// withPages is the API with what only a browser asks for.
func (s sessions) withPages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v1/", s.routes())
	mux.Handle("/", s.routes()) // which says that there is no such thing
	pages := web.Handler()
	mux.Handle("GET /{$}", pages)
	mux.Handle("GET "+web.Prefix, pages)
	mux.HandleFunc("GET "+openPath, s.openDashboard)
	return mux
}

// openedFragment precedes the session's token in the address of the page that a code opens. A fragment never leaves the
// browser, and the page removes it from the address at once.
const openedFragment = "#session="

// openDashboard takes a code that `godwit open` has made, and leads to the pages.
func (s sessions) openDashboard(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // of HEAD a code is not used up
		return
	}
	c, err := s.keys.Redeem(w, r, r.URL.Query().Get("code"))
	if err != nil {
		http.Error(w, "This link was used already, or is too old. Run `godwit open` again.", http.StatusForbidden)
		return
	}
	http.Redirect(w, r, "/"+openedFragment+c.CSRF, http.StatusSeeOther)
}

func (s sessions) session(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, replyOf(door.CallerOf(r)), nil)
}

func replyOf(c *door.Caller) SessionReply {
	return SessionReply{By: c.By, CSRF: c.CSRF, Expires: c.Expires.UTC()}
}

func (s sessions) beginSession(w http.ResponseWriter, r *http.Request) error {
	var req SessionRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSessionBody)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the request: %w", err))
	}
	var c *door.Caller
	var err error
	if req.Code != "" {
		c, err = s.keys.Redeem(w, r, req.Code)
	} else {
		c, err = s.keys.Enter(w, r, req.Password)
	}
	if err != nil {
		return doorError(err)
	}
	return writeJSON(w, replyOf(c), nil)
}

// doorError tells why somebody is not let in.
func doorError(err error) *Error {
	e := &Error{Message: err.Error(), Kind: KindAuth, Status: http.StatusForbidden, Hint: "run `godwit open` again"}
	switch {
	case errors.Is(err, door.ErrTries):
		e.Status, e.Hint = http.StatusTooManyRequests, "`godwit open` on the machine itself needs no password"
	case errors.Is(err, door.ErrWrongPassword):
		e.Hint, e.Password = "`godwit password` on the machine itself sets another", true
	case errors.Is(err, door.ErrNoPassword):
		e.Message, e.Hint = door.ErrNoPassword.Error(), "a password is taken at the address of `godwit up --lan` alone, "+
			"once `godwit password` has set one"
	}
	return e
}

func (s sessions) endSession(w http.ResponseWriter, r *http.Request) error {
	s.keys.Leave(w, r)
	return writeJSON(w, struct{}{}, nil)
}

// newTicket gives a page the address at which the browser downloads a file by itself.
func (s sessions) newTicket(w http.ResponseWriter, r *http.Request) error {
	var req TicketRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSessionBody)).Decode(&req); err != nil {
		return inputError(fmt.Errorf("reading the request: %w", err))
	}
	at, err := url.Parse(req.Path)
	if err != nil || at.Scheme != "" || at.Host != "" || at.RawQuery != "" || !strings.HasPrefix(at.Path, "/v1/") {
		return inputError(fmt.Errorf("path %q: want a path of this API without a query", task.Printable(req.Path, maxShownPath)))
	}
	ticket, until, err := s.keys.Ticket(r, at.Path)
	if err != nil {
		return &Error{Message: err.Error(), Kind: KindAuth, Status: http.StatusForbidden,
			Hint: "send the request for the file itself, with the key that this request had"}
	}
	u := url.URL{Path: at.Path, RawPath: at.RawPath, RawQuery: url.Values{door.TicketParam: {ticket}}.Encode()}
	return writeJSON(w, TicketReply{URL: u.String(), Expires: until.UTC()}, nil)
}

func (s sessions) newCode(w http.ResponseWriter, r *http.Request) error {
	if c := door.CallerOf(r); c == nil || c.By == door.ByCookie {
		return &Error{Message: "a browser gets no code for another", Kind: KindAuth, Status: http.StatusForbidden,
			Hint: "run `godwit open` on the machine"}
	}
	if s.tcp == nil {
		return &Error{Message: "this node has no address that a browser could open", Kind: KindRefused,
			Status: http.StatusConflict, Hint: "start it with `godwit up --api 127.0.0.1:7733`"}
	}
	code, until := s.keys.Code()
	u := url.URL{Scheme: "http", Host: s.tcp.Addr().String(), Path: openPath,
		RawQuery: url.Values{"code": {code}}.Encode()}
	return writeJSON(w, CodeReply{Code: code, URL: u.String(), Expires: until.UTC()}, nil)
}

// OpenCode returns a one-time code with which a browser on this machine gets a session, and its URL.
func (c *Client) OpenCode(ctx context.Context) (reply CodeReply, err error) {
	return reply, c.call(ctx, http.MethodPost, "/v1/session/codes", nil, &reply)
}

// Session says how the node sees the caller.
func (c *Client) Session(ctx context.Context) (reply SessionReply, err error) {
	return reply, c.get(ctx, "/v1/session", nil, &reply)
}
