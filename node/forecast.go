package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/task"
)

const (
	// usualHorizon is what `peers` forecasts: about the length of a usual task
	// on the grids of which there are records (docs/spec/predictors.md section 1.1).
	usualHorizon = time.Hour
)

// ErrUnknownMember is returned for a peer that is no member of the overlay.
var ErrUnknownMember = errors.New("node: not a member of the overlay")

// A Forecast says how likely a member is to stay, and what that rests on.
type Forecast struct {
	Peer  task.PeerID   `json:"peer"`
	State overlay.State `json:"state"`
	ForS  float64       `json:"for_s"`
	// Stay is the probability that it runs tasks for that long without a break
	// from now; 0 when it runs none now.
	Stay float64 `json:"stay"`
	// Known is false when nothing is known of this host in particular.
	Known  bool       `json:"known"`
	Since  *time.Time `json:"since,omitempty"` // of its state
	Until  *time.Time `json:"until,omitempty"` // when it means to go
	Belief float64    `json:"belief"`          // how far its own account is believed, 0 to 1
	Rests  []string   `json:"rests_on"`        // sentences
}

// Forecast answers for a member, this node with an empty peer.
func (ps *past) Forecast(ctx context.Context, peer task.PeerID, d time.Duration) (Forecast, error) {
	if peer == "" {
		peer = ps.self
	}
	var f Forecast
	var ok bool
	err := ps.look(ctx, func() {
		for _, m := range ps.ordered() {
			if a, known := m.View().Member(peer); known {
				f, ok = ps.forecast(&a, d), true
				return
			}
		}
	})
	if err == nil && !ok {
		err = fmt.Errorf("%w: %s", ErrUnknownMember, peer)
	}
	return f, err
}

// forecast is on the loop. It weighs what the member's own record says with what
// holds for hosts at large, by how far the member is believed.
func (ps *past) forecast(a *overlay.Advert, d time.Duration) Forecast {
	now := ps.now()
	ps.refreshPool(now)
	f := Forecast{Peer: a.Peer, State: a.State, ForS: d.Seconds(), Belief: ps.peer.Standing().Weight(a.Peer)}
	var r predictor.Record
	if a.Peer == ps.self {
		ps.recorder.Tick(now)
		r = ps.recorder.Record()
		f.State = ps.state() // its advert may be waiting
	} else if err := r.UnmarshalBinary(a.Record); err != nil {
		f.Rests = append(f.Rests, "it sends no survival record")
	}
	if r.Since != 0 {
		since := time.Unix(int64(r.Since), 0).UTC()
		f.Since = &since
		f.Rests = append(f.Rests, fmt.Sprintf("its own record: in its state for %v, known for %d h before, %d sessions "+
			"seen to their end",
			now.Sub(since).Round(time.Second), r.Known, sessions(&r)))
	}
	if !a.Until.IsZero() {
		f.Until = &a.Until
		f.Rests = append(f.Rests, "it means to go at "+a.Until.Format(time.RFC3339))
	}
	if f.State != overlay.Available {
		f.Rests = append(f.Rests, "it runs no tasks now: "+f.State.String())
		return f
	}
	f.Stay, f.Known = ps.stay(a, now, d)
	if f.Belief < 1 {
		f.Rests = append(f.Rests, fmt.Sprintf("its account is believed to %.0f %%: it claimed to be there when it was not",
			100*f.Belief))
	}
	f.Rests = append(f.Rests, fmt.Sprintf("%d members' records together", ps.pool.Records()))
	return f
}

// refreshPool has the members' records summed up again when the sum is old.
func (ps *past) refreshPool(now time.Time) {
	if at := ps.peer.RefreshPool(now); at != ps.pooled {
		ps.pooled, ps.readings = at, map[record]*reading{}
		ps.noteLearnt(now)
	}
}

// sessions is how many sessions a record counts, those lost from sight left out.
func sessions(r *predictor.Record) (sum int) {
	for _, n := range r.Ends {
		sum += int(n)
	}
	return sum
}
