package overlay

import (
	"iter"
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// A View is one member's picture of its overlay, built from adverts: who is
// there, and by which manifest. Who leads is for the Lease to say. It is soft state: members that fall
// silent are forgotten. The zero value is not ready; see NewView.
type View struct {
	overlay  ID
	manifest Manifest                // zero: not known yet, and everybody is admitted
	members  map[task.PeerID]*Advert // newest advert of each member
	// lost has the Seq at which a member was lost, until that advert would
	// have expired: gossip older than the loss does not bring it back.
	lost map[task.PeerID]tombstone
}

type tombstone struct {
	seq     uint64
	expires time.Time
}

// NewView returns an empty view of an overlay, without its manifest: see
// SetManifest.
func NewView(id ID) *View {
	return &View{
		overlay: id,
		members: map[task.PeerID]*Advert{},
		lost:    map[task.PeerID]tombstone{},
	}
}

// Seen takes in an advert that OpenAdvert accepted, this node's own included,
// and says whether it was news. Adverts of other overlays, ones not newer than
// what is known, and ones of peers that the manifest does not admit are none.
// Whether it admits is asked for the time at which the advert was issued, so that
// all members answer alike: a pass that expired ends a membership with the last
// advert issued before, MaxAdvertLife later at the most. It keeps a, which nobody changes
// from then on: an advert is held once, however many views of one process have it.
func (v *View) Seen(a *Advert) bool {
	if a.Overlay != v.overlay {
		return false
	}
	if old, ok := v.members[a.Peer]; ok && a.Seq <= old.Seq {
		return false
	}
	if t, ok := v.lost[a.Peer]; ok && a.Seq < t.seq {
		return false
	}
	if v.Admits(a) != nil {
		return false
	}
	delete(v.lost, a.Peer)
	v.members[a.Peer] = a
	return true
}

// Admits returns nil if the manifest admits who issued an advert of this overlay,
// else an error that wraps ErrNotAdmitted and says why not.
func (v *View) Admits(a *Advert) error {
	if v.manifest.IsZero() {
		return nil
	}
	return v.manifest.Admits(a.Peer, a.Pass, a.Issued)
}

// SetManifest follows m, which the caller has verified, if it is the overlay's:
// as the first, which the caller knows to be right (Succeeds says how), or as one
// that Succeeds the one followed. It drops the members that m no longer admits
// and returns them, sorted. Any other manifest changes nothing.
func (v *View) SetManifest(m Manifest) []task.PeerID {
	if m.ID() != v.overlay || !v.manifest.IsZero() && !m.Succeeds(&v.manifest) {
		return nil
	}
	v.manifest = m
	var out []task.PeerID
	for _, peer := range slices.Sorted(maps.Keys(v.members)) {
		if v.Admits(v.members[peer]) != nil {
			delete(v.members, peer)
			out = append(out, peer)
		}
	}
	return out
}

// Manifest returns the manifest followed; it is zero before one was set. Its
// slices are not to be changed.
func (v *View) Manifest() Manifest { return v.manifest }

// Lost removes a member whose connection broke, and says whether it was one.
// Its next advert, or the last one sent again, brings it back.
func (v *View) Lost(peer task.PeerID) bool {
	a, ok := v.members[peer]
	if ok {
		v.lost[peer] = tombstone{a.Seq, a.Expires}
		delete(v.members, peer)
	}
	return ok
}

// Expire removes the members whose adverts are over at now and returns them,
// sorted.
func (v *View) Expire(now time.Time) []task.PeerID {
	var gone []task.PeerID
	for peer, a := range v.members {
		if !a.Expires.After(now) {
			gone = append(gone, peer)
			delete(v.members, peer)
		}
	}
	maps.DeleteFunc(v.lost, func(_ task.PeerID, t tombstone) bool { return !t.expires.After(now) })
	slices.Sort(gone)
	return gone
}

// NextExpiry returns when Expire will next have something to remove, and false
// for an empty view.
func (v *View) NextExpiry() (time.Time, bool) {
	var next time.Time
	for _, a := range v.members {
		if next.IsZero() || a.Expires.Before(next) {
			next = a.Expires
		}
	}
	return next, !next.IsZero()
}

// Member returns the newest advert of a member.
func (v *View) Member(peer task.PeerID) (Advert, bool) {
	a, ok := v.members[peer]
	if !ok {
		return Advert{}, false
	}
	return *a, true
}

// Has reports whether a peer is a member.
func (v *View) Has(peer task.PeerID) bool {
	_, ok := v.members[peer]
	return ok
}

// Len returns how many members there are.
func (v *View) Len() int { return len(v.members) }

// Workers returns the members that lend slots, by their newest adverts, sorted. The slice is the caller's.
func (v *View) Workers() []task.PeerID {
	var out []task.PeerID
	for peer := range v.members {
		if v.members[peer].Slots > 0 {
			out = append(out, peer)
		}
	}
	slices.Sort(out)
	return out
}

// Peers are the members, in any order.
func (v *View) Peers() iter.Seq[task.PeerID] { return maps.Keys(v.members) }

// All reports whether the newest advert of every member is such a one.
func (v *View) All(is func(*Advert) bool) bool {
	for _, a := range v.members {
		if !is(a) {
			return false
		}
	}
	return true
}

// Members returns the newest advert of every member, sorted by peer ID. The
// slice is the caller's; what the adverts refer to is shared and read only.
func (v *View) Members() []Advert {
	out := make([]Advert, 0, len(v.members))
	for _, peer := range slices.Sorted(maps.Keys(v.members)) {
		out = append(out, *v.members[peer])
	}
	return out
}
