package portmap

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// A Protocol is TCP or UDP.
type Protocol string

// The protocols whose ports can be opened.
const (
	TCP Protocol = "tcp"
	UDP Protocol = "udp"
)

// A Port is one on which this machine listens.
type Port struct {
	Protocol Protocol `json:"protocol"`
	Number   uint16   `json:"port"`
}

// An Open is a port that the router leads here.
type Open struct {
	Port
	Outside netip.AddrPort `json:"outside"` // where others dial it
	Until   time.Time      `json:"until"`   // when the router closes it, unless it is asked again
}

// A Status says what the router does for this machine.
type Status struct {
	Asked  bool       `json:"asked"`           // a router was asked, and has answered or been silent
	Router netip.Addr `json:"router,omitzero"` // its address inside; the zero one where none is known
	By     string     `json:"by,omitempty"`    // how it was told: "PCP", "NAT-PMP" or "UPnP"; "" for not at all
	Open   []Open     `json:"open"`            // sorted
	Why    string     `json:"why,omitempty"`   // nothing, or not all, is open, for a person
}

// Errors of a port that is not open.
var (
	// ErrSilent is returned where the router does not answer.
	ErrSilent = errors.New("portmap: the router does not answer")
	// ErrRefused is returned where it says no.
	ErrRefused = errors.New("portmap: the router refuses")
	// ErrAnswer is returned for an answer that makes no sense.
	ErrAnswer = errors.New("portmap: the router's answer makes no sense")
	// ErrNested is returned where the router's own address is none that others can dial: there is another
	// router before it, such as a provider's.
	ErrNested = errors.New("portmap: the router's own address is not a public one")
	// ErrNoRouter is returned where no router is known that might be asked.
	ErrNoRouter = errors.New("portmap: there is no router to ask")
)

const (
	// Life is for how long a port is asked for. It is asked for again at half of it. After a crash the
	// router leads the port to nobody for so long at most.
	Life = 20 * time.Minute
	// leastLife is the least time between two requests for a port, whatever the router grants.
	leastLife = 2 * time.Minute
)

// A grant is what a router says that it does.
type grant struct {
	outside netip.AddrPort
	life    time.Duration
}

// carrierGrade are the addresses between providers' routers and their customers' (RFC 6598).
var carrierGrade = netip.MustParsePrefix("100.64.0.0/10")

// check returns what keeps a grant from being of use.
func (g grant) check() error {
	a := g.outside.Addr()
	switch {
	case g.outside.Port() == 0 || !a.Is4() || a.IsUnspecified() || a.IsMulticast() || g.life <= 0:
		return fmt.Errorf("%w: it leads %s here for %v", ErrAnswer, g.outside, g.life)
	case !a.IsGlobalUnicast() || a.IsPrivate() || carrierGrade.Contains(a):
		return fmt.Errorf("%w: %s", ErrNested, a)
	}
	return nil
}

// until is when the router closes the port.
func (g grant) until(now time.Time) time.Time { return now.Add(min(max(g.life, leastLife), Life)) }

// lifeOf reads seconds, of which a router may say any number.
func lifeOf(seconds uint32) time.Duration {
	return min(time.Duration(seconds)*time.Second, Life)
}
