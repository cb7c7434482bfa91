package node

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"godwit/migrate"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// Errors of what is asked of an overlay. They are wrapped with what was asked.
var (
	// ErrUnknownOverlay is returned for an overlay that this node does not serve,
	// and for one to join that nobody it reaches knows.
	ErrUnknownOverlay = errors.New("node: no such overlay")
	// ErrNotFounder is returned for what only the founder's key can sign.
	ErrNotFounder = errors.New("node: only the overlay's founder may do that")
	// ErrNotAdmitted is returned for joining an overlay whose admission rule says
	// no; what it wraps says why.
	ErrNotAdmitted = errors.New("node: the overlay does not admit this node")
	// ErrInvalidRules is returned for rules that no overlay can have.
	ErrInvalidRules = errors.New("node: these rules cannot hold")
	// ErrNewerTicket is returned for a ticket that a later version of this program made.
	ErrNewerTicket = errors.New("node: the ticket is newer than this program")
	// ErrInvalidTicket is returned for a ticket that is damaged, or is none.
	ErrInvalidTicket = errors.New("node: the ticket cannot be read")
)

// Who may be a member of an overlay, besides its founder.
const (
	AdmitOpen    = "open"    // everybody
	AdmitInvited = "invited" // who holds an invitation of the founder
	AdmitListed  = "listed"  // who is on the founder's list
)

// MaxCoordinators bounds an overlay's group: each further copy of the ledger
// costs its leader as much again, and seven outlast what volunteers do.
const MaxCoordinators = overlay.MaxGroup

// MaxTrusted bounds the members that alone may coordinate.
const MaxTrusted = overlay.MaxTrusted

// MaxAllowed bounds a list of members: it travels in the manifest, and at about
// 40 bytes a peer fits the 64 KiB of one.
const MaxAllowed = overlay.MaxAllowed

// MaxPolicy bounds a policy with its parameters, in bytes.
const MaxPolicy = overlay.MaxPolicy

// ticketPrefix is what tickets begin with and names do not.
const ticketPrefix = "godwit1"

// Values of OverlayRules.Cells.
const (
	CellsOn  = "on"  // more than 500 members divide into cells
	CellsOff = "off" // all members are in a single cell
)

// OverlayRules are what the founder of an overlay decides. The zero value of a
// field is the usual.
type OverlayRules struct {
	Name string `json:"name"` // 1 to task.MaxName bytes, without white space; never changes
	// Placement and Migration are policies with their parameters, as
	// place.Parse and migrate.Parse read them, of at most MaxPolicy bytes; "" is
	// the node's usual.
	Placement string `json:"placement"`
	Migration string `json:"migration"`
	// Predictor is what gives the policies their forecasts, as predictor.Parse reads it, of at most MaxPolicy bytes; "" is
	// the usual.
	Predictor string `json:"predictor"`
	// Fairness and Chunking are the same, as share.Parse and chunk.Parse read them.
	Fairness     string `json:"fairness"`
	Chunking     string `json:"chunking"`
	Coordinators int    `json:"coordinators"` // 1 to MaxCoordinators; 0: the usual
	// Trusted are the only members that may coordinate, at most MaxTrusted; empty: any may.
	Trusted []task.PeerID `json:"trusted,omitempty"`
	// Replicas is the least number of runs that must agree for every job; 0 and
	// 1: what the job asks. At most task.MaxReplicas.
	Replicas int `json:"replicas"`
	// Verify is how the results of each job are checked at least, as task.ParseVerify reads it; ""
	// is off: as the job says.
	Verify string `json:"verify"`
	// Priorities has the priorities of jobs count where anybody may join, as they do elsewhere.
	Priorities bool `json:"priorities"`
	// Cells says whether an overlay with many members divides into cells: CellsOn ("" too) or CellsOff.
	Cells string `json:"cells"`
	// SlotsEach is the most slots that the jobs of one submitter may have at a time, in each cell, at most
	// overlay.MaxSlotsEach; 0 is no limit. It takes AdmitInvited or AdmitListed: with AdmitOpen a submitter has as many keys
	// as it likes.
	SlotsEach int           `json:"slots_each,omitempty"`
	Admission string        `json:"admission"`         // AdmitOpen ("" too), AdmitInvited or AdmitListed
	Allowed   []task.PeerID `json:"allowed,omitempty"` // of AdmitListed; at most MaxAllowed
	// RevokeInvitations voids the invitations made so far, of AdmitInvited: who
	// joined with one is no member any more. It is an act, not a state: never set
	// in what is read.
	RevokeInvitations bool `json:"revoke_invitations,omitempty"`
}

// Check returns what is wrong with the rules, which wraps ErrInvalidRules, or nil.
func (r *OverlayRules) Check() error {
	if err := r.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidRules, err)
	}
	return nil
}

func (r *OverlayRules) check() error {
	if err := checkOverlayName(r.Name); err != nil {
		return err
	}
	if max(len(r.Placement), len(r.Migration), len(r.Predictor), len(r.Fairness), len(r.Chunking)) > MaxPolicy {
		return fmt.Errorf("a policy with its parameters has at most %d bytes", MaxPolicy)
	}
	by := cmp.Or(r.Predictor, predictor.Default)
	if _, err := predictor.Parse(by); err != nil {
		return err
	}
	if r.Placement != "" {
		if err := place.Check(by, r.Placement); err != nil {
			return err
		}
	}
	if r.Migration != "" {
		if err := migrate.Check(by, r.Migration); err != nil {
			return err
		}
	}
	if _, err := share.Parse(r.Fairness); err != nil {
		return err
	}
	if err := chunk.Check(r.Chunking); err != nil {
		return err
	}
	switch {
	case r.Coordinators < 0 || r.Coordinators > MaxCoordinators:
		return fmt.Errorf("coordinators are 1 to %d, not %d", MaxCoordinators, r.Coordinators)
	case r.SlotsEach < 0 || r.SlotsEach > overlay.MaxSlotsEach:
		return fmt.Errorf("the slots of each submitter are 1 to %d, or 0 for no limit, not %d", overlay.MaxSlotsEach, r.SlotsEach)
	case r.SlotsEach > 0 && r.Admission != AdmitInvited && r.Admission != AdmitListed:
		return errors.New("a limit on each submitter's slots takes the admission invited or listed: in an open pool a " +
			"submitter has as many keys as it likes")
	case r.Replicas < 0 || r.Replicas > task.MaxReplicas:
		return fmt.Errorf("replicas are 1 to %d, not %d", task.MaxReplicas, r.Replicas)
	}
	if _, err := r.floor(); err != nil {
		return err
	}
	if r.Cells != "" && r.Cells != CellsOn && r.Cells != CellsOff {
		return fmt.Errorf("cells are %s or %s, not %q", CellsOn, CellsOff, r.Cells)
	}
	return r.checkAdmission()
}

// floor is Verify.
func (r *OverlayRules) floor() (*task.Verify, error) {
	if r.Verify == "" {
		return nil, nil
	}
	return task.ParseVerify(r.Verify)
}

func (r *OverlayRules) checkAdmission() error {
	switch r.Admission {
	case "", AdmitOpen, AdmitInvited:
		if len(r.Allowed) > 0 {
			return fmt.Errorf("a list of members goes with admission %q", AdmitListed)
		}
	case AdmitListed:
	default:
		return fmt.Errorf("there is no admission %q: use one of %s, %s, %s", r.Admission, AdmitInvited, AdmitListed,
			AdmitOpen)
	}
	if open := r.Admission == "" || r.Admission == AdmitOpen; r.Priorities && !open {
		return fmt.Errorf("priorities always count with admission %q: leave the rule out", r.Admission)
	}
	if r.RevokeInvitations && r.Admission != AdmitInvited {
		return fmt.Errorf("invitations go with admission %q: there are none to revoke", AdmitInvited)
	}
	if err := checkPeers("the list", r.Allowed, MaxAllowed); err != nil {
		return err
	}
	return checkPeers("the list of those who may coordinate", r.Trusted, MaxTrusted)
}

// checkPeers checks a list of peers that a person made.
func checkPeers(what string, list []task.PeerID, most int) error {
	if len(list) > most {
		return fmt.Errorf("%d peers are on %s, at most %d", len(list), what, most)
	}
	for i, p := range list {
		if _, err := p.PublicKey(); err != nil {
			return err
		}
		if slices.Contains(list[:i], p) {
			return fmt.Errorf("%s is on the list twice", p)
		}
	}
	return nil
}

// checkOverlayName keeps a name apart from an ID and from a ticket, which are
// given in the same place, and whole in a column.
func checkOverlayName(name string) error {
	switch {
	case name == "" || len(name) > task.MaxName:
		return fmt.Errorf("the overlay's name has %d bytes, want 1 to %d", len(name), task.MaxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name,
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return fmt.Errorf("the overlay's name %q has characters that do not print, or white space", name)
	}
	if strings.Contains(name, placeMark) {
		return fmt.Errorf("the overlay's name %q has %q in it: an address follows on that", name, placeMark)
	}
	if _, err := task.ParseCID(name); err == nil || strings.HasPrefix(name, ticketPrefix) || isTicket(name) {
		return fmt.Errorf("the overlay's name %q reads as an ID or a ticket: give it a name of its own", name)
	}
	return nil
}

// The roles of a node in an overlay.
const (
	RoleLeader      = "leader"      // decides now
	RoleCoordinator = "coordinator" // holds the ledger
	RoleMember      = "member"      // runs and hands in tasks
)

// OverlayStatus is one overlay as this node sees it.
type OverlayStatus struct {
	Name     string   `json:"name"`
	ID       task.CID `json:"id"`
	Manifest task.CID `json:"manifest"` // of the version followed
	Version  uint64   `json:"version"`  // of the rules followed; 0 is the first
	// of this machine: over the sum of its overlays' shares; 0: nothing runs here for it
	Share   float64       `json:"share"`
	Leader  task.PeerID   `json:"leader"`  // "" while none is known
	Epoch   uint64        `json:"epoch"`   // of the leader
	Term    uint64        `json:"term"`    // grows by one with each change of leader
	Role    string        `json:"role"`    // of this node: RoleLeader, RoleCoordinator or RoleMember
	Members int           `json:"members"` // this node among them
	Group   []task.PeerID `json:"group"`   // the coordinators, the leader first
	Digest  string        `json:"digest"`  // of the ledger's copy here, in hexadecimal; "": holds none
	Jobs    int           `json:"jobs"`    // in that copy
	Rows    int           `json:"rows"`    // tasks that it keeps apart
	Synced  bool          `json:"synced"`  // the leader has confirmed that the copy is whole
	// Cell is the bits of the cell that this node is in, whose are Leader, Group and Members; "" where the
	// overlay is in one. Cells are all that are known of.
	Cell  string       `json:"cell,omitempty"`
	Cells []CellStatus `json:"cells,omitempty"`
}

// What a node holds of another's presence.
const (
	BeliefThere     = "there"
	BeliefSuspected = "suspected"
	BeliefLost      = "lost"
)

// OverlayDetail is an overlay with what its founder decided.
type OverlayDetail struct {
	OverlayStatus
	Rules   OverlayRules `json:"rules"`
	Founder task.PeerID  `json:"founder"`          // "" for an open pool that goes by its name alone
	Founded time.Time    `json:"founded,omitzero"` // zero for such a pool
}
