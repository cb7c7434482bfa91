package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"godwit/overlay"
	"godwit/scheduler"
)

// joinedPrefix is where the overlays are kept that this node serves, by ID.
const joinedPrefix = "n/overlay/"

// A joined is a membership as it is kept.
type joined struct {
	First    overlay.Manifest // version 0, whose CID is the overlay's ID
	Manifest overlay.Manifest // the version followed
	Pass     []byte
	Share    float64
}

// joinedRecord is a joined on disk.
type joinedRecord struct {
	First    []byte  `json:"first"`
	Manifest []byte  `json:"manifest"`
	Pass     []byte  `json:"pass,omitempty"`
	Share    float64 `json:"share"`
}

// usualShare is the share of an overlay of which nothing is said.
const usualShare = 1

func (j *joined) encode() ([]byte, error) {
	first, err := j.First.Encode()
	if err != nil {
		return nil, err
	}
	b, err := j.Manifest.Encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(joinedRecord{first, b, j.Pass, j.Share})
}

func decodeJoined(b []byte) (joined, error) {
	var r joinedRecord
	if err := json.Unmarshal(b, &r); err != nil {
		return joined{}, err
	}
	first, m, err := openVersions(r.First, r.Manifest)
	if err != nil {
		return joined{}, err
	}
	if !(r.Share > 0) {
		r.Share = usualShare
	}
	return joined{first, m, r.Pass, r.Share}, nil
}

// openVersions reads the first version of a manifest and a later one, or the
// same again, and checks that the founder of the first signed both.
func openVersions(first, newest []byte) (overlay.Manifest, overlay.Manifest, error) {
	f, err := overlay.OpenManifest(first)
	if err != nil {
		return f, f, err
	}
	m, err := overlay.OpenManifest(newest)
	switch {
	case err != nil:
		return f, m, err
	case f.Version != 0:
		return f, m, errors.New("the overlay's first manifest is a later one")
	case m.CID() != f.CID() && !m.Succeeds(&f):
		return f, m, errors.New("the manifest is not of this overlay")
	}
	return f, m, nil
}

// loadJoined returns the overlays to serve: those kept, and those that the
// configuration names; the default one if there are none. IDs and tickets of
// overlays that are not kept are returned apart: somebody has to be asked for
// their manifests.
func (n *Node) loadJoined(ctx context.Context) (known []joined, unknown []string, err error) {
	pairs, err := n.store.load(ctx, "", joinedPrefix)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		j, err := decodeJoined(pairs[key])
		if err != nil {
			n.log.Error("an overlay that was joined cannot be read", "key", key, "err", err)
			continue
		}
		known = append(known, j)
	}
	wanted := n.cfg.Overlays
	if len(wanted) == 0 && len(known) == 0 {
		wanted = []string{DefaultOverlay}
	}
	for _, w := range wanted {
		if slices.ContainsFunc(known, func(j joined) bool { return j.Manifest.Name == w || string(j.Manifest.ID()) == w }) {
			continue
		}
		if isID(w) || isTicket(w) {
			unknown = append(unknown, w)
			continue
		}
		m, err := overlay.Named(w)
		if err != nil {
			return nil, nil, err
		}
		known = append(known, joined{First: m, Manifest: m, Share: usualShare})
	}
	return known, unknown, nil
}

func isID(s string) bool     { _, err := overlay.ParseID(s); return err == nil }
func isTicket(s string) bool { return strings.HasPrefix(strings.ToLower(s), ticketPrefix) }

// saveJoined makes a membership durable with the next flush.
func (m *membership) saveJoined() {
	j := joined{m.first, m.manifest, m.pass, m.share}
	b, err := j.encode()
	if err != nil {
		m.log.Error("keeping the overlay", "err", err)
		return
	}
	m.n.persist1(joinedPrefix+string(m.id), b)
}

// persist1 makes a pair of the node's own durable with the next flush.
func (n *Node) persist1(key string, value []byte) {
	n.pending = append(n.pending, pending{effect: scheduler.Persist{Key: key, Value: value}})
}

// overlays returns the memberships by name, then ID; the first is the node's own
// where nothing else is said.
func (n *Node) ordered() []*membership {
	out := make([]*membership, 0, len(n.members))
	for _, m := range n.members {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *membership) int {
		return cmp.Or(cmp.Compare(a.manifest.Name, b.manifest.Name), cmp.Compare(a.id, b.id))
	})
	return out
}

// ErrAmbiguous is returned for the name of two overlays that this node serves.
var ErrAmbiguous = errors.New("node: more than one overlay has that name; say its ID")

// find returns the overlay of a name or ID; the default one, or the only one,
// for "".
func (n *Node) find(nameOrID string) (*membership, error) {
	if m := n.members[overlay.ID(nameOrID)]; m != nil {
		return m, nil
	}
	all := n.ordered()
	if nameOrID == "" {
		if len(all) == 0 {
			return nil, fmt.Errorf("%w: this node serves none; `godwit overlay join commons` joins the open pool", ErrUnknownOverlay)
		}
		for _, m := range all {
			if m.manifest.Name == DefaultOverlay && m.manifest.Founder == "" {
				return m, nil
			}
		}
		return all[0], nil
	}
	var found *membership
	for _, m := range all {
		if m.manifest.Name == nameOrID {
			if found != nil {
				return nil, fmt.Errorf("%w: %s", ErrAmbiguous, nameOrID)
			}
			found = m
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownOverlay, nameOrID)
	}
	return found, nil
}
