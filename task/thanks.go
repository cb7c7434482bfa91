package task

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"time"
)

// thanksDomain keeps the signature of thanks from meaning anything else.
const thanksDomain = "godwit thanks 1\x00"

const (
	// MaxThanks bounds encoded thanks, in bytes: those of MaxProjects names of MaxName bytes have 3 KiB.
	MaxThanks = 4 << 10
	// MaxProjects bounds the projects of one day's thanks: what comes beyond is of no name.
	MaxProjects = 16
	// Day is what thanks are merged by; days are counted from 1 January 1970, UTC.
	Day = 24 * time.Hour

	// maxThankedCores bounds what one machine can give in a day: more than any has.
	maxThankedCores = 1 << 12
	// maxThankedTasks bounds its tasks: a million a second is more than any ends.
	maxThankedTasks = 86_400 * 1_000_000
	// maxThankedFuel bounds its fuel: all of its cores at fastestFuel would not fit 64 bits.
	maxThankedFuel = 1 << 63
)

// Thanks are a submitter's signed word of what one worker gave its jobs on one day. Those of a later
// Issued take the place of earlier ones of the same day: they say all of it again, so nothing is counted
// twice however often they come. They are worth a thank you, and nothing else: no machine decides
// anything by them.
type Thanks struct {
	Overlay   string  `cbor:"1,keyasint"`
	Submitter PeerID  `cbor:"2,keyasint"`
	Worker    PeerID  `cbor:"3,keyasint"`
	Day       int64   `cbor:"4,keyasint"`
	Issued    int64   `cbor:"5,keyasint"`           // Unix seconds
	Given     []Given `cbor:"6,keyasint" most:"16"` // by project, each once; at least one
}

// Given is what was given to one project.
type Given struct {
	Project string        `cbor:"1,keyasint,omitempty" json:"project"` // the name of its jobs; "" where they have none
	Tasks   uint64        `cbor:"2,keyasint,omitempty" json:"tasks"`   // that ended there
	CPU     time.Duration `cbor:"3,keyasint,omitempty" json:"cpu_ns"`  // as the worker says, within what its leases allow
	Fuel    uint64        `cbor:"4,keyasint,omitempty" json:"fuel"`    // what guests did, equal on every machine
}

// Add adds what was given besides, whatever its project is; numbers stay at their greatest.
func (g *Given) Add(o Given) {
	g.Tasks = min(g.Tasks+min(o.Tasks, maxThankedTasks), maxThankedTasks)
	g.CPU = min(g.CPU+min(o.CPU, maxThankedCores*Day), maxThankedCores*Day)
	g.Fuel = min(g.Fuel+min(o.Fuel, maxThankedFuel-1), maxThankedFuel-1)
}

// DayOf is the day of a time.
func DayOf(t time.Time) int64 { return t.Unix() / int64(Day/time.Second) }

// signedThanks is how they go over the wire. The signature is over the bytes of Body, so that a later
// version may add to them.
type signedThanks struct {
	Body      []byte `cbor:"1,keyasint"`
	Signature []byte `cbor:"2,keyasint"`
}

// Sign returns the thanks as they go to the worker. key is the submitter's.
func (t *Thanks) Sign(key ed25519.PrivateKey) ([]byte, error) {
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("signing thanks: %w", err)
	}
	if self := PeerIDOf(key.Public().(ed25519.PublicKey)); self != t.Submitter {
		return nil, fmt.Errorf("signing thanks: they are %s's, the key is %s's", t.Submitter, self)
	}
	body, err := Encode(t)
	if err != nil {
		return nil, fmt.Errorf("signing thanks: %w", err)
	}
	b, err := Encode(&signedThanks{body, sign(key, thanksDomain, body)})
	if err == nil && len(b) > MaxThanks {
		err = fmt.Errorf("signing thanks: %d bytes, the most is %d", len(b), MaxThanks)
	}
	return b, err
}

// OpenThanks reads what Sign wrote, and checks that the submitter signed it. The bytes may be hostile.
func OpenThanks(b []byte) (*Thanks, error) {
	if len(b) > MaxThanks {
		return nil, fmt.Errorf("reading thanks: %d bytes, the most is %d", len(b), MaxThanks)
	}
	var s signedThanks
	if err := Decode(b, &s); err != nil {
		return nil, fmt.Errorf("reading thanks: %w", err)
	}
	t := new(Thanks)
	if err := Decode(s.Body, t); err != nil {
		return nil, fmt.Errorf("reading thanks: %w", err)
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("reading thanks: %w", err)
	}
	key, err := t.Submitter.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("reading who thanks: %w", err)
	}
	if !verify(key, thanksDomain, s.Body, s.Signature) {
		return nil, fmt.Errorf("verifying that %s thanks: %w", t.Submitter, ErrSignature)
	}
	return t, nil
}

func (t *Thanks) validate() error {
	const lastDay = 253_339_228_800 / 86_400 // as of all times: see docs/protocol.md, Jobs
	switch {
	case !CID(t.Overlay).Valid():
		return errors.New("thanks of no overlay")
	case t.Worker == "" || len(t.Worker) > maxPeerIDText:
		return errors.New("thanks to nobody")
	case t.Worker == t.Submitter:
		return errors.New("nobody thanks itself")
	case t.Day < 0 || t.Day >= lastDay || t.Issued < 0 || DayOf(time.Unix(t.Issued, 0)) < t.Day:
		return errors.New("thanks of a day that was not yet")
	case len(t.Given) == 0 || len(t.Given) > MaxProjects:
		return fmt.Errorf("thanks by %d projects: want 1 to %d", len(t.Given), MaxProjects)
	}
	var sum Given
	for i, g := range t.Given {
		switch {
		case i > 0 && strings.Compare(t.Given[i-1].Project, g.Project) >= 0:
			return errors.New("projects that are not in order")
		case len(g.Project) > MaxName || !isPrintable(g.Project):
			return errors.New("a project whose name does not print")
		case g.CPU < 0 || g.Tasks == 0 && g.CPU == 0 && g.Fuel == 0:
			return errors.New("thanks for nothing")
		case g.CPU > maxThankedCores*Day || g.Tasks > maxThankedTasks || g.Fuel >= maxThankedFuel:
			return errors.New("thanks for more than a machine does in a day")
		}
		sum.Tasks, sum.CPU = sum.Tasks+g.Tasks, sum.CPU+g.CPU
	}
	if sum.CPU > maxThankedCores*Day || sum.Tasks > maxThankedTasks {
		return errors.New("thanks for more than a machine does in a day")
	}
	return nil
}

// Counts returns why thanks do not count at a time, with a minute for clocks that differ; nil where they do.
func (t *Thanks) Counts(now time.Time) error {
	if time.Unix(t.Issued, 0).After(now.Add(clockSlack * time.Millisecond)) {
		return errors.New("thanks that were issued in the future")
	}
	return nil
}
