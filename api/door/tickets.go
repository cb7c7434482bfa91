package door

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// TicketParam is the query parameter that contains a ticket.
const TicketParam = "ticket"

// ErrTicket is returned by Ticket for a request without a session.
var ErrTicket = errors.New("door: only the page of a session gets a ticket")

// A ticket lets a browser download one path. A browser sends no header of the page when it downloads a file by itself,
// so the ticket replaces the session's token once.
type ticket struct {
	session digest
	path    string
	until   time.Time
}

// Ticket returns a ticket for one GET request of a path by the session of r, and the time until which it is valid. r
// must have passed a Door.
func (k *Keys) Ticket(r *http.Request, path string) (value string, until time.Time, err error) {
	c, err := r.Cookie(k.cookie)
	if by := CallerOf(r); err != nil || by == nil || by.By != ByCookie {
		return "", time.Time{}, ErrTicket
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	var oldest digest
	var first time.Time
	for d, t := range k.tickets {
		if !t.until.After(now) {
			delete(k.tickets, d)
		} else if first.IsZero() || t.until.Before(first) {
			oldest, first = d, t.until
		}
	}
	if len(k.tickets) >= maxTickets {
		delete(k.tickets, oldest)
	}
	value, until = secret(), now.Add(ticketLife)
	k.tickets[sha256.Sum256([]byte(value))] = ticket{sha256.Sum256([]byte(c.Value)), path, until}
	return value, until, nil
}

// spend reports whether a request has a ticket of a session, and uses up the ticket. The ticket is the whole query, so
// that it opens exactly the path that the page named. The caller holds k.mu.
func (k *Keys) spend(r *http.Request, session digest, now time.Time) bool {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(q) != 1 || r.Method != http.MethodGet {
		return false
	}
	d := digest(sha256.Sum256([]byte(q.Get(TicketParam))))
	t, ok := k.tickets[d]
	if !ok || subtle.ConstantTimeCompare(t.session[:], session[:]) != 1 {
		return false
	}
	delete(k.tickets, d)
	return t.path == r.URL.Path && now.Before(t.until)
}
