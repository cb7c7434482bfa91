package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
	"time"

	"godwit/api/stream"
	"godwit/api/view"
	"godwit/scheduler/message"
)

const (
	// lookEvery is how often the node is looked at while somebody listens, and lookShare the share of the time
	// that looking may take: where a look takes long the next comes later. Two percent of a core is
	// what an open page may cost.
	lookEvery = time.Second
	lookShare = 50
	// lookLeast is how often at least, however long it takes.
	lookLeast = 15 * time.Second
	// keptRates is how many points of traffic are kept: two minutes.
	keptRates = 120
)

// The topics of events.
const (
	topicHome = "home" // a view.Home
	// The others are hints: who shows such things asks anew.
	topicJobs, topicMembers, topicOverlays = "jobs", "members", "overlays"
	topicDecisions, topicMachine           = "decisions", "machine"
)

// events streams what is new as server-sent events.
func (s pages) events(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	err := s.live.Serve(w, r.WithContext(ctx))
	if errors.Is(err, stream.ErrFull) {
		return &Error{Message: err.Error(), Kind: KindRefused, Status: http.StatusServiceUnavailable,
			Hint: "close some pages of the dashboard"}
	}
	return err
}

// collect looks at the node while somebody listens.
func (s pages) collect(ctx context.Context, say func(topic string, data []byte)) {
	defer s.traffic.rest()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		begun := time.Now()
		if err := s.look(ctx, say); err != nil && ctx.Err() == nil {
			s.log.Debug("an open page is not told what is new", "err", err)
		}
		timer.Reset(min(lookLeast, max(lookEvery, lookShare*time.Since(begun))))
	}
}

// look says once how things are.
func (s pages) look(ctx context.Context, say func(topic string, data []byte)) error {
	st, err := s.node.Glance(ctx)
	if err != nil {
		return err
	}
	s.traffic.note(time.Now(), st.RxBytes, st.TxBytes)
	near, connected, err := s.node.Near(ctx, view.NearRows)
	if err != nil {
		return err
	}
	jobs, err := s.node.OwnJobs(ctx)
	if err != nil {
		return err
	}
	home := view.NewHome(&st, near, connected, jobs)
	b, err := json.Marshal(home)
	if err != nil {
		return fmt.Errorf("encoding what is new: %w", err)
	}
	say(topicHome, b)
	hint(say, topicJobs, sumJobs(jobs))
	hint(say, topicMembers, home.Near, home.Overlays)
	hint(say, topicOverlays, home.Overlays)
	hint(say, topicMachine, home.State, home.Rule, home.Since, s.node.Walled())
	decided, err := s.node.Decided(ctx)
	if err != nil {
		return err
	}
	hint(say, topicDecisions, decided)
	return nil
}

// sumJobs is what of jobs a list shows.
func sumJobs(jobs []message.JobStatus) uint64 {
	h := fnv.New64a()
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprint(h, j.ID, j.State, j.Reason, j.Tasks, j.Held, j.Final)
	}
	return h.Sum64()
}

// hint says that something is new if anything of it is: data tells nothing but that.
func hint(say func(topic string, data []byte), topic string, of ...any) {
	h := fnv.New64a()
	fmt.Fprint(h, of...)
	say(topic, fmt.Appendf(nil, `{"now":"%x"}`, h.Sum64()))
}

// traffic is what the node sent and received while somebody looked.
type traffic struct {
	mu     sync.Mutex
	rates  []view.Rate
	at     time.Time
	rx, tx int64
}

// note takes in what was sent and received up to a time.
func (t *traffic) note(at time.Time, rx, tx int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := at.Sub(t.at).Seconds(); !t.at.IsZero() && d > 0 {
		t.rates = append(t.rates, view.Rate{At: at.UTC(), Rx: float64(rx-t.rx) / d, Tx: float64(tx-t.tx) / d})
		t.rates = t.rates[max(0, len(t.rates)-keptRates):]
	}
	t.at, t.rx, t.tx = at, rx, tx
}

// rest forgets the last look: nobody knows what goes by until the next.
func (t *traffic) rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = time.Time{}
}

func (t *traffic) points() []view.Rate {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]view.Rate{}, t.rates...)
}
