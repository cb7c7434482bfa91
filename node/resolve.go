package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

// resolve finds out which overlay is meant, and whether it admits this node. It goes to the places
// that a ticket has, or to the address behind the name.
func (o *overlays) resolve(ctx context.Context, what string) (j joined, err error) {
	what, addr := splitPlace(what)
	var via task.PeerID
	if addr != "" {
		if via, err = o.meet(ctx, addr); err != nil {
			return j, err
		}
	}
	var kept joined
	if e := o.do(ctx, func() {
		if m, err := o.find(what); err == nil && what != "" {
			kept = joined{First: m.first, Manifest: *m.Manifest(), Pass: m.Pass()}
		}
	}); e != nil {
		return j, e
	}
	switch {
	case !kept.Manifest.IsZero():
		return kept, nil
	case isTicket(what):
		return o.redeem(ctx, what)
	case isID(what):
		id := overlay.ID(what)
		j.First, j.Manifest, err = o.findManifest(ctx, id, via)
		if err != nil && via == "" {
			if first, newest, e := o.lookUp(ctx, overlay.MeetingOpen(id), id); e == nil {
				j.First, j.Manifest, err = first, newest, nil
			}
		}
	default:
		j, err = o.named(ctx, what, via)
	}
	if err != nil {
		return j, err
	}
	return j, o.admits(&j)
}

// admits says what keeps this node out of an overlay.
func (o *overlays) admits(j *joined) error {
	if err := j.Manifest.Admits(o.self, j.Pass, time.Now()); err != nil {
		return fmt.Errorf("%w: %w", ErrNotAdmitted, err)
	}
	return nil
}

// redeem turns a ticket into a membership to be.
func (o *overlays) redeem(ctx context.Context, text string) (j joined, err error) {
	ticket, err := overlay.ParseTicket(text)
	switch {
	case errors.Is(err, overlay.ErrTicketVersion):
		return j, fmt.Errorf("%w: %w", ErrNewerTicket, err)
	case err != nil:
		return j, fmt.Errorf("%w: %w", ErrInvalidTicket, err)
	}
	if !time.Now().Before(ticket.Expires) { // without asking anybody
		return j, fmt.Errorf("%w: the invitation expired on %s", ErrNotAdmitted, ticket.Expires.Format(time.RFC3339))
	}
	if j.First, j.Manifest, err = o.findByTicket(ctx, &ticket); err != nil {
		return j, err
	}
	j.Meetings = []overlay.Meeting{ticket.Meeting()}
	if err := ticket.Check(&j.Manifest, time.Now()); err != nil {
		return j, fmt.Errorf("%w: %w", ErrNotAdmitted, err)
	}
	if j.Pass, err = ticket.Pass(o.self); err != nil {
		return j, err
	}
	return j, o.admits(&j)
}

// named returns the open pool of a name. Of one at an address, who answers there must serve it:
// a name mistyped would be a pool of nobody.
func (o *overlays) named(ctx context.Context, name string, via task.PeerID) (j joined, err error) {
	if err := checkOverlayName(name); err != nil {
		return j, fmt.Errorf("%w: %w", ErrInvalidRules, err)
	}
	if j.Manifest, err = overlay.Named(name); err != nil {
		return j, fmt.Errorf("%w: %w", ErrInvalidRules, err)
	}
	j.First = j.Manifest
	if via == "" {
		return j, nil
	}
	_, _, err = o.findManifest(ctx, j.Manifest.ID(), via)
	return j, err
}

// placeMark stands between an overlay's name or ID and the address of a member.
const placeMark = "@/"

// splitPlace divides NAME@ADDRESS; addr is "" where there is none.
func splitPlace(what string) (name, addr string) {
	name, rest, found := strings.Cut(what, placeMark)
	if !found {
		return what, ""
	}
	return name, "/" + rest
}

// hasPlace reports whether something names a place beside an overlay.
func hasPlace(what string) bool {
	_, addr := splitPlace(what)
	return addr != ""
}

// meet connects to a peer at an address. What it returns wraps ErrUnknownOverlay where nobody is
// reached: it may be tried again.
func (o *overlays) meet(ctx context.Context, addr string) (task.PeerID, error) {
	p, err := o.net.Meet(ctx, addr)
	switch {
	case errors.Is(err, p2p.ErrNotMet):
		return "", fmt.Errorf("%w: %w", ErrUnknownOverlay, err)
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrBadAddress, err)
	}
	return p, nil
}

// findByTicket asks those who are at a ticket's places, all at once, and then whoever is connected.
func (o *overlays) findByTicket(ctx context.Context, t *overlay.Ticket) (first, newest overlay.Manifest, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		first, newest overlay.Manifest
		err           error
	}
	answers := make(chan answer, len(t.Places))
	for _, p := range t.Places {
		o.spawn(func() {
			var a answer
			peer, err := o.meet(ctx, p.String())
			if a.err = err; err == nil {
				a.first, a.newest, a.err = o.fetchManifest(ctx, peer, t.Overlay)
			}
			answers <- a
		})
	}
	var why []string
	for range t.Places {
		a := <-answers
		if a.err == nil {
			return a.first, a.newest, nil
		}
		why = append(why, a.err.Error())
	}
	if first, newest, err = o.findManifest(ctx, t.Overlay, ""); err == nil {
		return first, newest, nil
	}
	meeting := t.Meeting()
	if f, n, e := o.lookUp(ctx, meeting.At(time.Now()), t.Overlay); e == nil {
		return f, n, nil
	}
	if len(why) == 0 {
		return first, newest, err
	}
	return first, newest, fmt.Errorf("%w, nor does any of the %d members that the ticket names (%s)", err, len(why),
		strings.Join(why, "; "))
}
