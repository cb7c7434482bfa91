package door

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	// idleLife is how long a session lasts after its last use, and longest how long at most: a page
	// that is left open for a day is still good in the evening, and a machine that is given away forgets.
	idleLife = 12 * time.Hour
	longest  = 7 * 24 * time.Hour
	// codeLife is how long a one-time code is good: a slow machine starts its browser meanwhile.
	codeLife = 2 * time.Minute
	// ticketLife is the validity of a download ticket: the page uses it at once.
	ticketLife = time.Minute
	// maxSessions, maxCodes and maxTickets bound what is kept. Of more the oldest goes.
	maxSessions = 64
	maxCodes    = 16
	maxTickets  = 64
	// secretBytes are more than can be guessed.
	secretBytes = 32
)

// ErrCode is returned for a one-time code that was not made, was used, or is too old.
var ErrCode = errors.New("door: the code is used up, too old, or none of this node")

// Keys are what lets callers in. They are of one node, for all its doors, and safe for concurrent use.
// Sessions are kept in memory: they end with the node.
type Keys struct {
	token    string
	cookie   string // its name
	password *Password
	now      func() time.Time

	mu       sync.Mutex
	codes    map[digest]time.Time // until when each is good
	sessions map[digest]*session
	tickets  map[digest]ticket
}

// A digest stands for a secret, so that finding one takes no time that tells of it.
type digest [sha256.Size]byte

// A session is one browser's.
type session struct {
	token      string // sent in CSRFHeader
	made, used time.Time
}

// NewKeys returns the keys of a node with a token. p is nil where no password is taken.
func NewKeys(token string, p *Password) *Keys {
	of := sha256.Sum256([]byte("cookie of " + token))
	const named = 4 // bytes that tell two nodes of one machine apart, whose cookies a browser keeps together
	return &Keys{token: token, cookie: "godwit-" + hex.EncodeToString(of[:named]), password: p, now: time.Now,
		codes: map[digest]time.Time{}, sessions: map[digest]*session{}, tickets: map[digest]ticket{}}
}

func secret() string {
	b := make([]byte, secretBytes)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// Code returns a new code that lets one browser in, once, and until when it does.
func (k *Keys) Code() (code string, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	for d, t := range k.codes {
		if !t.After(now) {
			delete(k.codes, d)
		}
	}
	for len(k.codes) >= maxCodes {
		oldest, at := digest{}, time.Time{}
		for d, t := range k.codes {
			if at.IsZero() || t.Before(at) {
				oldest, at = d, t
			}
		}
		delete(k.codes, oldest)
	}
	code, until = secret(), now.Add(codeLife)
	k.codes[sha256.Sum256([]byte(code))] = until
	return code, until
}

// Redeem begins a session for a code, and sets its cookie. The code is used up.
func (k *Keys) Redeem(w http.ResponseWriter, r *http.Request, code string) (*Caller, error) {
	d := sha256.Sum256([]byte(code))
	k.mu.Lock()
	until, ok := k.codes[d]
	delete(k.codes, d)
	k.mu.Unlock()
	if !ok || !k.now().Before(until) {
		return nil, ErrCode
	}
	return k.begin(w, r), nil
}

// Enter begins a session for a password, and sets its cookie. It is for requests over TLS alone.
func (k *Keys) Enter(w http.ResponseWriter, r *http.Request, password string) (*Caller, error) {
	if k.password == nil || r.TLS == nil {
		return nil, ErrNoPassword
	}
	if err := k.password.Try(hostOf(r.RemoteAddr), password); err != nil {
		return nil, err
	}
	return k.begin(w, r), nil
}

// begin begins a session and sets its cookie. A browser that has a session keeps it, and the session's time begins again:
// other tabs of the browser send its cookie with its token, and a new cookie would make the node refuse them.
func (k *Keys) begin(w http.ResponseWriter, r *http.Request) *Caller {
	value, s := k.held(r)
	if s == nil {
		value, s = k.newSession()
	}
	http.SetCookie(w, &http.Cookie{Name: k.cookie, Value: value, Path: "/", MaxAge: int(longest.Seconds()),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
	return &Caller{By: ByCookie, CSRF: s.token, Expires: s.until()}
}

// held returns a copy of the session whose cookie a request has, after its time has begun again; nil if there is none.
func (k *Keys) held(r *http.Request) (cookie string, held *session) {
	c, err := r.Cookie(k.cookie)
	if err != nil {
		return "", nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	s := k.sessions[sha256.Sum256([]byte(c.Value))]
	if s == nil || !now.Before(s.until()) {
		return "", nil
	}
	s.made, s.used = now, now
	out := *s
	return c.Value, &out
}

// newSession begins a session, for which the one that was unused for longest ends if there are too many.
func (k *Keys) newSession() (cookie string, begun *session) {
	value, now := secret(), k.now()
	s := session{token: secret(), made: now, used: now}
	out := s
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget(now)
	k.sessions[sha256.Sum256([]byte(value))] = &s
	return value, &out
}

// forget makes room for a session: those that are over go, and then the one that was not used for longest.
func (k *Keys) forget(now time.Time) {
	var idle digest
	var since time.Time
	for d, s := range k.sessions {
		if !now.Before(s.until()) {
			delete(k.sessions, d)
		} else if since.IsZero() || s.used.Before(since) {
			idle, since = d, s.used
		}
	}
	if len(k.sessions) >= maxSessions {
		delete(k.sessions, idle)
	}
}

// sessionOf returns a copy of the session of a request and marks it as used; nil if there is none. The request must have
// the session's cookie and, because any server on this machine may receive the cookie, the session's token or a ticket.
func (k *Keys) sessionOf(r *http.Request) *session {
	c, err := r.Cookie(k.cookie)
	if err != nil {
		return nil
	}
	d := sha256.Sum256([]byte(c.Value))
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	s := k.sessions[d]
	if s == nil {
		return nil
	}
	if !now.Before(s.until()) {
		delete(k.sessions, d)
		return nil
	}
	if !s.csrf(r.Header.Get(CSRFHeader)) && !k.spend(r, d, now) {
		return nil
	}
	s.used = now
	out := *s
	return &out
}

// Leave ends the session of a request, if it has one, and has the browser forget its cookie.
func (k *Keys) Leave(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(k.cookie); err == nil {
		k.mu.Lock()
		delete(k.sessions, sha256.Sum256([]byte(c.Value)))
		k.mu.Unlock()
	}
	http.SetCookie(w, &http.Cookie{Name: k.cookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: r.TLS != nil,
		SameSite: http.SameSiteStrictMode})
}

func (s *session) until() time.Time {
	idle, last := s.used.Add(idleLife), s.made.Add(longest)
	if last.Before(idle) {
		return last
	}
	return idle
}

func (s *session) csrf(got string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(s.token)) == 1
}
