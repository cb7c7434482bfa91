package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"godwit/member"
	"godwit/migrate"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// methodManifest asks for an overlay's manifest: a manifestQuery, answered with
// a manifestAnswer by any node that serves it.
const methodManifest = "manifest"

type manifestQuery struct {
	Overlay overlay.ID `json:"overlay"`
}

// A manifestAnswer is the first version, whose hash is the overlay's ID, and the
// newest.
type manifestAnswer struct {
	First  []byte `json:"first"`
	Newest []byte `json:"newest"`
}

func (o *overlays) answerManifest(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q manifestQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	var first, newest overlay.Manifest
	if err := o.doOf(ctx, from, func() {
		if m := o.members[q.Overlay]; m != nil {
			first, newest = m.first, *m.Manifest()
		}
	}); err != nil {
		return nil, err
	}
	if first.IsZero() {
		return nil, fmt.Errorf("%w: %s", ErrUnknownOverlay, q.Overlay)
	}
	var a manifestAnswer
	var err1, err2 error
	a.First, err1 = first.Encode()
	a.Newest, err2 = newest.Encode()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// fetchManifest asks one peer for an overlay's manifest, and believes only what
// its founder signed.
func (o *overlays) fetchManifest(ctx context.Context, peer task.PeerID, id overlay.ID) (first, newest overlay.Manifest,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	body, err := json.Marshal(manifestQuery{id})
	if err != nil {
		return first, newest, err
	}
	b, err := o.net.Request(ctx, peer, methodManifest, body)
	if err != nil {
		return first, newest, err
	}
	var a manifestAnswer
	if err := json.Unmarshal(b, &a); err != nil {
		return first, newest, fmt.Errorf("reading the manifest of %s: %w", id, err)
	}
	if first, newest, err = openVersions(a.First, a.Newest); err != nil {
		return first, newest, fmt.Errorf("the manifest of %s: %w", id, err)
	}
	if first.ID() != id {
		return first, newest, fmt.Errorf("the manifest of %s: it is that of %s", id, first.ID())
	}
	return first, newest, nil
}

// findManifest asks one peer, or with "" those who are connected.
func (o *overlays) findManifest(ctx context.Context, id overlay.ID, of task.PeerID) (first, newest overlay.Manifest,
	err error) {
	if of != "" {
		if first, newest, err = o.fetchManifest(ctx, of, id); err != nil {
			err = fmt.Errorf("%w: %s: the peer %s was reached, and does not serve it: %w", ErrUnknownOverlay, id, of, err)
		}
		return first, newest, err
	}
	peers := o.net.Peers()
	for _, p := range peers {
		f, m, err := o.fetchManifest(ctx, p.ID, id)
		if err != nil {
			o.log.Debug("no manifest from a peer", "overlay", id, "peer", p.ID, "err", err)
			continue
		}
		if first.IsZero() || m.Succeeds(&newest) {
			first, newest = f, m
		}
		return first, newest, nil
	}
	return first, newest, fmt.Errorf("%w: %s: none of the %d peers connected serves it", ErrUnknownOverlay, id, len(peers))
}

// askManifest brings the newer rules that a member follows.
func (m *membership) askManifest(peer task.PeerID) {
	o := m.all
	o.spawn(func() {
		_, newest, err := o.fetchManifest(o.tasks, peer, m.id)
		o.post(post{call: func() {
			o.at(m.Asked)
			if err != nil {
				m.log.Debug("newer rules are not to be had", "peer", peer, "err", err)
				return
			}
			if newest.Succeeds(m.Manifest()) {
				m.follow(newest)
			}
		}})
	})
}

// follow obeys a newer version of the overlay's rules.
func (m *membership) follow(newest overlay.Manifest) {
	o := m.all
	m.log.Info("the overlay has new rules", "version", newest.Version, "placement", newest.Placement, "migration",
		newest.Migration,
		"predictor", newest.Predictor, "fairness", newest.Fairness, "chunking", newest.Chunking, "coordinators", newest.Group(), "admission",
		newest.Admission.String())
	o.at(func() { m.Follow(newest) })
	if err := o.saveJoined(); err != nil {
		m.log.Error("the new rules are not kept", "err", err)
	}
	m.admission.Store(&newest)
	if err := o.net.Recheck(m.id); err != nil {
		m.log.Error("the network does not take the new rules", "err", err)
	}
}

// govern puts an overlay's rules into a configuration. What it says of migration,
// of fairness and of chunking need not be known here: without it tasks end where
// they began, and the usual policies divide. unknown is why it is not.
func govern(cfg *scheduler.Config, m *overlay.Manifest) (unknown, err error) {
	if m.Placement != "" {
		if _, err := place.Parse(m.Placement); err != nil {
			return nil, err
		}
	}
	cfg.Rules = member.Rules(m)
	if _, err := predictor.Parse(cmp.Or(m.Predictor, predictor.Default)); err != nil {
		return nil, err
	}
	if m.Migration != "" {
		if _, unknown = migrate.Parse(m.Migration); unknown != nil {
			cfg.Rules.Migration = ""
		}
	}
	if _, err := share.Parse(m.Fairness); err != nil {
		unknown, cfg.Rules.Fairness = errors.Join(unknown, err), ""
	}
	if err := chunk.Check(m.Chunking); err != nil {
		unknown, cfg.Rules.Chunking = errors.Join(unknown, err), ""
	}
	return unknown, nil
}

// invitationLife is how long an invitation holds of which nothing is said.
const invitationLife = 7 * 24 * time.Hour
