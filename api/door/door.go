package door

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Door lets requests to one address pass, or refuses them.
type Door struct {
	Keys *Keys
	// Secure says that the address is served over TLS: a cookie is sent over nothing else then, and a
	// password is taken.
	Secure bool
	// Named reports whether a host that a request names, without its port, is this node. It is what keeps
	// out a site whose name an attacker has made resolve to this machine.
	Named func(host string) bool
	// Open reports whether a request is answered without a key. Its path tells nothing that not
	// everybody may know.
	Open func(r *http.Request) bool
	// Refuse answers what may not pass.
	Refuse func(w http.ResponseWriter, r Refusal)
}

// A Refusal is why a request may not pass.
type Refusal struct {
	Status  int // of HTTP
	Message string
	Hint    string // the way out
	// Password says that a password would do.
	Password bool
}

// methods are all that the API has. OPTIONS is not among them: no other site is to ask what it may do.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete}

// CSRFHeader is the header in which a page sends its session's token with every request. The cookie alone opens
// nothing: browsers also send it to other servers on this machine, because cookies ignore the port.
const CSRFHeader = "Godwit-CSRF"

// Guard returns a handler that has next answer what may pass. Requests without a key have the time limits of Bounded;
// next sets others for those with one.
func (d *Door) Guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	return Bounded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		refusal := d.checkOrigin(cross, r)
		if refusal == nil {
			r, refusal = d.admit(r)
		}
		if refusal != nil {
			d.Refuse(w, *refusal)
			return
		}
		if CallerOf(r) != nil {
			know(r)
		}
		next.ServeHTTP(w, r)
	}))
}

// harden has a browser frame nothing of the answer, run nothing that is not a file of the node, guess no
// types and tell nobody where it has been. An answer is kept nowhere, unless its handler says otherwise.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "+
		"img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// checkOrigin looks at how and by whom the request was sent; nil for nothing wrong.
func (d *Door) checkOrigin(cross *http.CrossOriginProtection, r *http.Request) *Refusal {
	if !slices.Contains(methods, r.Method) {
		return &Refusal{Status: http.StatusMethodNotAllowed, Message: "the API has no method " + clip(r.Method)}
	}
	if !d.Named(hostOf(r.Host)) {
		return &Refusal{Status: http.StatusMisdirectedRequest, Message: "this node is not called " + clip(r.Host),
			Hint: "use the address that `godwit open --print` prints"}
	}
	foreign := &Refusal{Status: http.StatusForbidden, Message: "another site may not ask this node anything",
		Hint: "open the dashboard itself: `godwit open`"}
	if cross.Check(r) != nil { // POST, PUT, DELETE
		return foreign
	}
	if origin := r.Header.Get("Origin"); origin != "" && !d.own(origin, r.Host) {
		return foreign
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		// A link to a page is followed from anywhere; what a site fetches is not for it.
		if !d.Open(r) || r.Method != http.MethodGet {
			return foreign
		}
	}
	return nil
}

// own reports whether an origin is this address.
func (d *Door) own(origin, host string) bool {
	u, err := url.Parse(origin)
	scheme := "http"
	if d.Secure {
		scheme = "https"
	}
	return err == nil && u.Scheme == scheme && strings.EqualFold(u.Host, host)
}

// admit looks for a key. The request that it returns says whose it is.
func (d *Door) admit(r *http.Request) (*http.Request, *Refusal) {
	if given, ok := r.Header["Authorization"]; ok {
		got := strings.TrimPrefix(strings.Join(given, ""), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(got), []byte(d.Keys.token)) != 1 {
			return r, d.noKey("the API's token is wrong")
		}
		return with(r, &Caller{By: ByToken}), nil
	}
	if s := d.Keys.sessionOf(r); s != nil {
		return with(r, &Caller{By: ByCookie, Expires: s.until()}), nil
	}
	if d.Open(r) {
		return with(r, nil), nil
	}
	return r, d.noKey("neither a token nor the session of an open page")
}

func (d *Door) noKey(why string) *Refusal {
	f := &Refusal{Status: http.StatusUnauthorized, Message: why,
		Hint: "run `godwit open` for the dashboard; a program sends the content of api.token in the node's data " +
			"directory as a bearer token"}
	if d.Secure && d.Keys.password != nil && d.Keys.password.Set() {
		f.Password, f.Hint = true, "give the password that was set with `godwit password`"
	}
	return f
}

// The ways to be let in.
const (
	BySocket = "socket" // of the data directory, which has no door
	ByToken  = "token"
	ByCookie = "cookie"
)

// A Caller is who sent a request.
type Caller struct {
	By string // one of the ways
	// CSRF is the session's token for CSRFHeader. It is set only by Keys.Redeem and Keys.Enter, which begin sessions.
	CSRF string
	// Expires is the time at which an unused session ends; zero unless By is ByCookie.
	Expires time.Time
}

type callerKey struct{}

func with(r *http.Request, c *Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// CallerOf returns who sent a request: nil for one without a key that a door let pass all the same. What came
// through no door came by the socket.
func CallerOf(r *http.Request) *Caller {
	c, guarded := r.Context().Value(callerKey{}).(*Caller)
	if !guarded {
		return &Caller{By: BySocket}
	}
	return c
}

// hostOf is the host of a Host header without port and brackets.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// Loopback names this machine as only itself does: an address of loopback, or localhost.
func Loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && a.IsLoopback()
}

// Addressed returns the hosts of an address that others on the network use: any address, which no name can be
// made to stand for, and some names.
func Addressed(names ...string) func(host string) bool {
	return func(host string) bool {
		_, err := netip.ParseAddr(host)
		return err == nil || Loopback(host) ||
			slices.ContainsFunc(names, func(n string) bool { return n != "" && strings.EqualFold(n, host) })
	}
}

// maxClip bounds what of a request is repeated in an answer.
const maxClip = 80

func clip(s string) string {
	if len(s) > maxClip {
		s = s[:maxClip]
	}
	return strings.ToValidUTF8(s, "?")
}
