package hostile

import (
	"context"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// A worker is a member that takes leases and answers them as it likes. Leases of other
// jobs than the one that it is after it refuses, as an honest worker may.
type worker struct {
	*stranger
	of    string     // the overlay's name
	after task.JobID // "" takes leases of all jobs
	slots int
	// end returns what it says of a lease, unsigned; nil for nothing yet, which holds it.
	end func(l *message.Lease) *task.Result

	mu     sync.Mutex
	leases map[task.TaskID]*message.Lease
	taken  int // leases of the job
	wrong  error
}

// reportEvery is how often it says that it is there.
const reportEvery = time.Second

// labour brings a worker; it works until its stranger is dismissed.
func (f *field) labour(ctx context.Context, as guise, after task.JobID, slots int, claims overlay.Advert,
	end func(l *message.Lease) *task.Result) (*worker, error) {
	s, err := f.prepare(as)
	if err != nil {
		return nil, err
	}
	w := &worker{stranger: s, of: s.poolName(), after: after, slots: slots, end: end,
		leases: map[task.TaskID]*message.Lease{}}
	s.offer = claims
	s.onMessage = func(from task.PeerID, _ overlay.ID, m *message.Message) {
		if m.Place != nil {
			w.placed(ctx, from, m.Place)
		}
	}
	f.mu.Lock()
	f.strangers = append(f.strangers, s)
	f.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	go w.work(ctx)
	return w, nil
}

// work reports until the stranger ends.
func (w *worker) work(ctx context.Context) {
	born := time.Now().UnixNano()
	for {
		if p, err := w.f.agreed(ctx, w.of); err == nil {
			r := &message.Report{Epoch: p.Epoch, Slots: w.slots, State: uint8(overlay.Available), Full: true, Born: born}
			w.mu.Lock()
			for id, a := range w.leases {
				r.Held = append(r.Held, message.Held{Task: id, Attempt: a.Attempt, Running: true, Receipt: a.Receipt})
			}
			w.mu.Unlock()
			_ = w.say(ctx, p.Leader, message.Message{Report: r}) // the next says more
		}
		select {
		case <-w.ended:
			return
		default:
		}
		if pause.For(ctx, reportEvery) != nil {
			return
		}
	}
}

// placed answers leases.
func (w *worker) placed(ctx context.Context, from task.PeerID, p *message.Place) {
	r := &message.Report{Epoch: p.Epoch, Slots: w.slots, State: uint8(overlay.Available)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range p.Leases {
		l := &p.Leases[i]
		if w.after != "" && l.Task.Job != w.after {
			r.Refused = append(r.Refused, message.Refusal{Task: l.Task, Attempt: l.Attempt, Reason: "not now",
				RetryAfter: time.Minute})
			continue
		}
		w.taken++
		said := w.end(l)
		if said == nil {
			w.leases[l.Task] = l
			continue
		}
		shown(l, said)
		signed, err := signedBy(w.key, *said)
		if err != nil {
			w.wrong = err
			continue
		}
		r.Ended = append(r.Ended, message.Ending{Attempt: l.Attempt, Result: signed})
	}
	_ = w.say(ctx, from, message.Message{Report: r}) // a worker that is not heard loses its leases
}

// shown puts what shows that a lease was given into the result of it.
func shown(l *message.Lease, r *task.Result) { r.Receipt = l.Receipt }

// came returns how many leases of the job it was given.
func (w *worker) came() (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.taken, w.wrong
}

// paused has the nodes themselves take no tasks while something is done.
func (f *field) paused(ctx context.Context, during func() error) error {
	for _, n := range f.nodes {
		if _, err := n.Verb(ctx, f.dir, "pause"); err != nil {
			return err
		}
	}
	err := during()
	for _, n := range f.nodes {
		if !n.Ended() {
			_, _ = n.Verb(ctx, f.dir, "resume") // what waits for it does not end
		}
	}
	return err
}
