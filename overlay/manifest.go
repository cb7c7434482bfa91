package overlay

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"godwit/task"
)

// Bounds of a manifest.
const (
	MaxName          = task.MaxName // bytes of an overlay's name
	MaxPolicy        = 256          // bytes of a policy with its parameters
	MaxAllowed       = 1024         // peers on an allow list
	MaxTrusted       = 64           // peers that alone may coordinate: some for each of the largest group
	MaxManifestBytes = 64 << 10     // encoded: a full allow list has 35 KiB
	// MaxManifestVersion bounds versions, so that a founder who errs can still
	// count on, and that a version survives JSON.
	MaxManifestVersion = 1 << 32
	MaxSlotsEach       = 1 << 20 // slots of one submitter: more than any pool has
)

// A Manifest says what an overlay is and who may be in it. Its founder signs it,
// and every later version of it; members follow the one that Succeeds all
// others. Times are kept to the millisecond. A zero Manifest is none.
type Manifest struct {
	Name string
	// Founder signs all versions; "" for an open pool that goes by its name
	// alone: see Named.
	Founder task.PeerID
	Founded time.Time // zero for a pool that goes by its name
	// Origin is the ID of version 0, which is the overlay's; "" in version 0.
	Origin  ID
	Version uint64 // at most MaxManifestVersion

	// Placement and Migration are policies with parameters, such as
	// "fcfspp:n=3"; "" is the default. Only their lengths are checked here.
	Placement, Migration string
	// Predictor is what gives the policies their forecasts, with parameters, such as "tde:n=3"; "" is the default. Members
	// gossip more of their histories where one is named: see Advert.Past.
	Predictor string
	// Fairness and Chunking are policies of shares and of chunks, likewise.
	Fairness, Chunking string
	// Coordinators is how many members hold the ledger, at most MaxGroup; 0 is
	// GroupSize. See Group.
	Coordinators int
	// Trusted are the only members that may coordinate, sorted and distinct, at most
	// MaxTrusted; empty: any may.
	Trusted []task.PeerID
	// Replicas is the verification rule: the least runs that must agree on a
	// task's result, whatever its job asks for; at most task.MaxReplicas. 0 and 1
	// leave it to the job.
	Replicas int
	// Checks says how submitters check the results of each job at least, whatever the job says; nil
	// leaves it to the job.
	Checks *task.Verify
	// Priorities has what submitters say of their jobs' priorities count, of an Open overlay.
	// Of others it always does, and this is false.
	Priorities bool
	// Undivided keeps the overlay in a single cell, however many members it has: see CellRule.
	Undivided bool
	// SlotsEach is the most slots that the jobs of one submitter may have at a time, in each cell, at most MaxSlotsEach; 0 is
	// no limit. It is 0 in an Open overlay, where a submitter has as many keys as it likes.
	SlotsEach int

	Admission Admission
	// Allowed are the members of a Listed overlay beside its founder, sorted and
	// distinct, at most MaxAllowed; empty for other rules.
	Allowed []task.PeerID
	// InvitesFrom voids the invitations issued before it, which is how an Invited
	// overlay takes them back. Zero: none is void.
	InvitesFrom time.Time

	Signature []byte // by Founder's key over all other fields
}

// Admission is the rule for who may be a member. Every member enforces it.
type Admission uint8

// The rules of admission.
const (
	Open    Admission = iota // everybody
	Invited                  // whom somebody gave a ticket of the founder
	Listed                   // who is in the manifest's list
)

// String returns the rule's name: "open", "invited" or "listed".
func (a Admission) String() string {
	switch a {
	case Open:
		return "open"
	case Invited:
		return "invited"
	case Listed:
		return "listed"
	}
	return fmt.Sprintf("admission(%d)", uint8(a))
}

// Named returns the open pool that goes by a name alone: without a founder, of
// the default policies, the same bytes on every node of one edition. So nodes that start apart
// with the same name are in one overlay when they meet. It never has a later
// version, since nobody could sign it.
func Named(name string) (Manifest, error) {
	m := Manifest{Name: name}
	return m, m.validate()
}

// Group returns how many members coordinate the overlay, 1 to MaxGroup.
func (m *Manifest) Group() int {
	if m.Coordinators == 0 {
		return GroupSize
	}
	return m.Coordinators
}

// ID returns the ID of the overlay: that of its first version. It is "" for a
// manifest that is not signed and goes by more than its name.
func (m *Manifest) ID() ID {
	if m.Version > 0 {
		return m.Origin
	}
	return m.CID()
}

// CID names this version: it is the CID of its canonical bytes, signature
// included, so that a version can be fetched as a block. It is "" for a manifest
// that is not signed and goes by more than its name.
func (m *Manifest) CID() task.CID {
	if m.IsZero() || m.Founder != "" && len(m.Signature) == 0 {
		return ""
	}
	b, err := m.Encode()
	if err != nil {
		return ""
	}
	return task.RawCID(b)
}

// IsZero says that there is no manifest.
func (m *Manifest) IsZero() bool { return m.Name == "" }

// Next returns a copy to be changed and signed as the version after this one,
// which must be signed. It shares nothing with m.
func (m *Manifest) Next() Manifest {
	n := *m
	n.Origin, n.Version, n.Signature = m.ID(), m.Version+1, nil
	n.Allowed, n.Trusted = slices.Clone(m.Allowed), slices.Clone(m.Trusted)
	if m.Checks != nil {
		floor := *m.Checks
		n.Checks = &floor
	}
	return n
}

// Succeeds says whether m is to be followed instead of o: it is a later version
// of the same overlay by the same founder under the same name, or of two of one
// version that the founder signed the one with the smaller CID, so that all
// members follow the same. Both have been verified.
//
// A version alone does not prove what it succeeds: only the first one's bytes
// belong to the overlay's ID. Who knows no version yet begins with that.
func (m *Manifest) Succeeds(o *Manifest) bool {
	if m.IsZero() || o.IsZero() || m.Founder == "" ||
		m.ID() != o.ID() || m.Founder != o.Founder || m.Name != o.Name || !m.Founded.Equal(o.Founded) {
		return false
	}
	if m.Version != o.Version {
		return m.Version > o.Version
	}
	return m.CID() < o.CID()
}

// validate checks everything that needs no key.
func (m *Manifest) validate() error {
	if err := checkText("name", m.Name, MaxName); err != nil {
		return err
	}
	switch {
	case m.Name == "":
		return errors.New("overlay: manifest has no name")
	case m.Version > MaxManifestVersion:
		return fmt.Errorf("overlay: manifest has version %d, at most %d", m.Version, MaxManifestVersion)
	case m.Version == 0 != (m.Origin == ""):
		return errors.New("overlay: manifest's version and its origin do not fit")
	case m.Coordinators < 0 || m.Coordinators > MaxGroup:
		return fmt.Errorf("overlay: manifest wants %d coordinators, at most %d", m.Coordinators, MaxGroup)
	case m.Replicas < 0 || m.Replicas > task.MaxReplicas:
		return fmt.Errorf("overlay: manifest wants %d replicas, at most %d", m.Replicas, task.MaxReplicas)
	case m.SlotsEach < 0 || m.SlotsEach > MaxSlotsEach:
		return fmt.Errorf("overlay: manifest gives each submitter %d slots, at most %d", m.SlotsEach, MaxSlotsEach)
	case len(m.Trusted) > MaxTrusted || !increasing(m.Trusted):
		return fmt.Errorf("overlay: manifest has %d members that alone may coordinate, at most %d, sorted and each once",
			len(m.Trusted), MaxTrusted)
	case m.Founder != "" && (!plausible(m.Founded) || millis(m.Founded) == 0):
		return errors.New("overlay: manifest has no plausible founding time")
	}
	for _, p := range []struct{ what, spec string }{
		{"placement policy", m.Placement}, {"migration policy", m.Migration}, {"fairness policy", m.Fairness},
		{"chunking policy", m.Chunking},
		{"predictor", m.Predictor},
	} {
		if err := checkText(p.what, p.spec, MaxPolicy); err != nil {
			return err
		}
	}
	if err := m.Checks.CheckFloor(); err != nil {
		return fmt.Errorf("overlay: manifest: %w", err)
	}
	return m.validateAdmission()
}

// validateAdmission checks that each rule has what belongs to it and nothing
// else: what has no effect would only mislead who reads it.
func (m *Manifest) validateAdmission() error {
	switch {
	case m.Admission > Listed:
		return fmt.Errorf("overlay: manifest has unknown rule of admission %d", m.Admission)
	case m.Admission != Listed && len(m.Allowed) > 0:
		return fmt.Errorf("overlay: manifest has an allow list, but its admission is %v", m.Admission)
	case len(m.Allowed) > MaxAllowed:
		return fmt.Errorf("overlay: manifest allows %d peers, at most %d", len(m.Allowed), MaxAllowed)
	case m.Admission != Invited && !m.InvitesFrom.IsZero():
		return fmt.Errorf("overlay: manifest takes invitations back, but its admission is %v", m.Admission)
	case m.Admission == Open && m.SlotsEach > 0:
		return errors.New("overlay: manifest limits the slots of a submitter, but its admission is open, where a submitter " +
			"has as many keys as it likes")
	case m.Admission != Open && m.Priorities:
		return fmt.Errorf("overlay: manifest has priorities count, which they do with admission %v: leave it out",
			m.Admission)
	case !m.InvitesFrom.IsZero() && !plausible(m.InvitesFrom):
		return errors.New("overlay: manifest has no plausible time to take invitations back")
	}
	if !increasing(m.Allowed) {
		return errors.New("overlay: manifest's allow list is not sorted, or names a peer twice")
	}
	return nil
}

// increasing reports whether a list is sorted and names each peer once.
func increasing(list []task.PeerID) bool {
	for i := range list {
		if i > 0 && list[i-1] >= list[i] {
			return false
		}
	}
	return true
}

// MayCoordinate reports whether the rules let a member coordinate.
func (m *Manifest) MayCoordinate(peer task.PeerID) bool {
	if len(m.Trusted) == 0 {
		return true
	}
	_, found := slices.BinarySearch(m.Trusted, peer)
	return found
}

// checkText checks a line that people will see on their terminals.
func checkText(what, s string, most int) error {
	if len(s) > most {
		return fmt.Errorf("overlay: manifest's %s has %d bytes, at most %d", what, len(s), most)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("overlay: manifest's %s is not UTF-8", what)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("overlay: manifest's %s has a character that does not print, %U", what, r)
		}
	}
	return nil
}

// plausible keeps times within what canonical CBOR writes (years of four
// digits) and refuses the zero time.
func plausible(t time.Time) bool {
	y := t.UTC().Year()
	return y >= 1970 && y <= 9998
}
