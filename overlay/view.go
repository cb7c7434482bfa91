package overlay

import (
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// A View is one member's picture of its overlay, built from adverts: who is
// there, and which manifest is followed. It is soft state: members that fall
// silent are forgotten. The zero value is not ready; see NewView.
type View struct {
	overlay  string
	manifest Manifest
	members  map[task.PeerID]Advert // newest advert of each member
	// lost has the Seq at which a member was lost, until that advert would
	// have expired: gossip older than the loss does not bring it back.
	lost map[task.PeerID]tombstone
}

type tombstone struct {
	seq     uint64
	expires time.Time
}

// NewView returns an empty view of the overlay of that name.
func NewView(overlay string) *View {
	return &View{
		overlay: overlay,
		members: map[task.PeerID]Advert{},
		lost:    map[task.PeerID]tombstone{},
	}
}

// Seen takes in an advert that OpenAdvert accepted, this node's own included,
// and says whether it was news. Adverts of other overlays, and ones not newer
// than what is known, are none. A better manifest in it is followed from now.
func (v *View) Seen(a Advert) bool {
	if a.Overlay != v.overlay {
		return false
	}
	if old, ok := v.members[a.Peer]; ok && a.Seq <= old.Seq {
		return false
	}
	if t, ok := v.lost[a.Peer]; ok && a.Seq < t.seq {
		return false
	}
	delete(v.lost, a.Peer)
	v.members[a.Peer] = a
	v.Follow(a.Manifest)
	return true
}

// Follow takes m as the overlay's manifest if it is better than the one
// followed, and says whether it did. The caller has verified m. The manifest
// outlives its founder's advert: an overlay does not change hands because one
// node went away for a while.
func (v *View) Follow(m Manifest) bool {
	if m.Name != v.overlay || !m.Better(&v.manifest) {
		return false
	}
	v.manifest = m
	return true
}

// Manifest returns the manifest followed; it is zero before any was seen.
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
	return a, ok
}

// Members returns the newest advert of every member, sorted by peer ID. The
// slice is the caller's; what the adverts refer to is shared and read only.
func (v *View) Members() []Advert {
	out := make([]Advert, 0, len(v.members))
	for _, peer := range slices.Sorted(maps.Keys(v.members)) {
		out = append(out, v.members[peer])
	}
	return out
}

// Leader returns who leads the overlay and in which term: for now the founder
// named by the manifest followed, as long as it is a member that says it leads
// (its advert has an Epoch). It is empty while nobody is known to lead.
// Elections replace this rule.
func (v *View) Leader() (task.PeerID, uint64) {
	a, ok := v.members[v.manifest.Founder]
	if !ok || a.Epoch == 0 {
		return "", 0
	}
	return a.Peer, a.Epoch
}
