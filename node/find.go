package node

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

const (
	// fewMembers is how many members of an overlay, this node among them, are few: with fewer the
	// hash table is asked for others.
	fewMembers = 3
	// findFirst and findMost are how long it takes until it is asked, at first, and later ever
	// longer, where nobody is found.
	findFirst, findMost = 5 * time.Second, 5 * time.Minute
	// provideLook is how often it is looked what this node is to be found by: weeks end, and
	// overlays are left.
	provideLook = 10 * time.Minute
	// maxMeetings bounds the tickets of an overlay by whose secrets this node may be found: the
	// newest, of those that hold.
	maxMeetings = 16
)

// meetBy notes a ticket that this node gave or came with.
func (m *membership) meetBy(x overlay.Meeting, now time.Time) {
	kept := []overlay.Meeting{x}
	for _, old := range m.meetings {
		if old.Valid(now) && string(old.Secret) != string(x.Secret) && len(kept) < maxMeetings {
			kept = append(kept, old)
		}
	}
	m.meetings = kept
	m.all.lookAtKeys()
}

// lookAtKeys has it looked soon what this node is to be found by.
func (o *overlays) lookAtKeys() {
	select {
	case o.foundBy <- struct{}{}:
	default:
	}
}

// keys are what members of the overlay are found by: of a closed one by who holds a ticket that
// this node gave or came with; on the loop.
func (m *membership) keys(now time.Time) (keys []p2p.Key) {
	if m.Manifest().Admission == overlay.Open {
		return []p2p.Key{overlay.MeetingOpen(m.id)}
	}
	for _, x := range m.meetings {
		if x.Valid(now) {
			keys = append(keys, x.At(now))
		}
	}
	return keys
}

// beFound says to the network what this node is to be found by, until ctx ends.
func (o *overlays) beFound(ctx context.Context) {
	again := time.NewTicker(provideLook)
	defer again.Stop()
	for {
		var keys []p2p.Key
		if o.do(ctx, func() {
			for _, m := range o.ordered() {
				keys = append(keys, m.keys(o.clock.wall())...)
			}
		}) != nil {
			return
		}
		o.net.Provide(keys)
		select {
		case <-o.foundBy:
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// findOthers asks the hash table for members while few are known, until ctx ends.
func (o *overlays) findOthers(ctx context.Context) {
	for wait := findFirst; pause.For(ctx, wait/2+rand.N(wait)) == nil; {
		type lonely struct {
			id   overlay.ID
			keys []p2p.Key
		}
		var all []lonely
		if o.do(ctx, func() {
			for _, m := range o.ordered() {
				if len(m.View().Members()) < fewMembers {
					all = append(all, lonely{m.id, m.keys(o.clock.wall())})
				}
			}
		}) != nil {
			return
		}
		wait = min(2*wait, findMost)
		if len(all) == 0 {
			wait = findMost
		}
		for _, l := range all {
			for _, k := range l.keys {
				if _, _, err := o.lookUp(ctx, k, l.id); err == nil {
					wait = findFirst
					break
				}
			}
		}
	}
}

// lookUp finds a member of an overlay by a key, and returns the manifest that it shows, which its
// founder signed.
func (o *overlays) lookUp(ctx context.Context, k p2p.Key, id overlay.ID) (first, newest overlay.Manifest, err error) {
	type shown struct{ first, newest overlay.Manifest }
	found := make(chan shown, 1)
	good, err := o.net.Find(ctx, k, func(ctx context.Context, p task.PeerID) bool {
		first, newest, err := o.fetchManifest(ctx, p, id)
		if err != nil {
			o.log.Debug("whom the hash table names serves no such overlay", "overlay", id, "peer", p, "err", err)
			return false
		}
		select {
		case found <- shown{first, newest}:
		default: // another was quicker
		}
		return true
	})
	switch {
	case err != nil && !errors.Is(err, p2p.ErrNoTable):
		return first, newest, err
	case !good:
		return first, newest, ErrUnknownOverlay
	}
	s := <-found
	return s.first, s.newest, nil
}
