package swarm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// drainTime is how long, by the machines' clock, results may take to their
// submitters after the end. An offer is repeated each minute.
const drainTime = 3 * time.Minute

// Run runs a scenario to its end. It says what in the scenario no machine does.
// A Scenario is shared, never changed; reports of equal scenarios and options are
// equal. The error is not nil, too, where the machines gave a result twice, or
// the books do not balance.
func Run(s *sim.Scenario, opt Options) (*sim.Report, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := opt.complete(s); err != nil {
		return nil, err
	}
	w, err := newWorld(s, opt)
	if err != nil {
		return nil, err
	}
	w.start()
	w.until(w.span)
	r := w.report()
	w.drained = true
	w.until(w.span + drainTime)
	if w.err == nil && w.opt.Attack == nil { // what strangers report is in no book
		w.balance(r)
	}
	if a := w.opt.Attack; a != nil && a.Ended != nil {
		a.Ended(w.stage)
	}
	if opt.Stats != nil {
		w.undelivered()
		w.closeBooks()
		*opt.Stats = w.stats
	}
	return r, w.err
}

func newWorld(s *sim.Scenario, opt Options) (*world, error) {
	end := s.End
	if end.IsZero() {
		end = s.Trace.End
	}
	w := &world{
		s: s, opt: opt, cfg: opt.Config,
		timeline: timeline{base: s.Day0(), clock: s.Day0()},
		draws: draws{cells: stream(s.Seed, "cells"), net: stream(s.Seed, "network"), adverts: stream(s.Seed, "adverts"),
			givers: stream(s.Seed, "givers")},
		intake: intake{jobs: map[task.JobID]*jobBook{}, openAt: -1,
			arrivals: sim.NewArrivals(&s.Workload, end.Sub(s.Day0()), s.Seed)},
		byID: map[peerID]*node{}, sizes: map[task.CID]int64{}, saves: map[task.CID]save{}, slots: max(1, s.Hosts.Slots),
	}
	w.span, w.warm, w.every = w.machines(end.Sub(w.base)), w.machines(s.Warmup), w.machines(s.Checkpoints.Every)
	w.perDay = make([]day, int(math.Ceil(float64(end.Sub(w.base))/float64(aDay)))+1)
	w.cfg.Opened = &task.Opened{} // of all nodes: whose signature one finds right is right
	w.cfg.Rules.Placement, w.cfg.Rules.Migration = s.Placement, s.Migration
	w.cfg.Rules.Fairness, w.cfg.Rules.Chunking, w.cfg.Rules.Predictor = s.Fairness, s.Chunking, s.Predictor
	w.canSave = s.Checkpoints.Every > 0 || s.Checkpoints.Auto || w.cfg.Moves()
	if err := w.cfg.Validate(); err != nil {
		return nil, fmt.Errorf("sim/swarm: %w", err)
	}
	if w.manifest = opt.Manifest; w.manifest.IsZero() {
		var err error
		if w.manifest, err = overlay.Named(opt.Overlay); err != nil {
			return nil, err
		}
	} else {
		w.cfg.Rules.Open, w.cfg.Rules.Priorities = w.manifest.Admission == overlay.Open, w.manifest.Priorities
	}
	w.overlay = w.manifest.ID()
	hosts := len(s.Trace.Hosts)
	for i := range hosts + opt.Submitters {
		n := w.newNode(i)
		if i < hosts {
			n.host = &s.Trace.Hosts[i]
			if k := len(s.Hosts.Sites); k > 0 {
				n.site = s.Hosts.Sites[i*k/hosts]
			}
		}
		w.nodes, w.byID[n.id] = append(w.nodes, n), n
	}
	w.addStrangers()
	return w, nil
}

func (w *world) newNode(i int) *node {
	key := w.opt.Script.keyOf(w.s.Seed, i)
	n := &node{
		w: w, index: i, key: key, id: task.PeerIDOf(key.Public().(ed25519.PublicKey)),
		lasting: lasting{disk: map[string][]byte{}, blocks: map[task.CID]bool{}, pool: &predictor.Pool{}},
		there:   nobody,
	}
	n.recorder = predictor.NewRecorder(n.pool)
	return n
}

// signResult returns what signs the results of the node's worker; nil where they come signed.
func (n *node) signResult() func([]byte) []byte {
	if !n.w.opt.Signed {
		return nil
	}
	return func(message []byte) []byte { return ed25519.Sign(n.key, message) }
}

// Key is the key of node i of a run: the hosts in the order of the trace, then
// the submitters. Peer IDs decide who coordinates, and much that is a draw.
func Key(seed uint64, i int) ed25519.PrivateKey {
	b := binary.BigEndian.AppendUint64([]byte("godwit sim/swarm key\x00"), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(i)))
	return ed25519.NewKeyFromSeed(sum[:])
}

// stream is the random stream for one purpose.
func stream(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte("swarm\x00" + purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// start arranges what happens first.
func (w *world) start() {
	for _, n := range w.nodes {
		if n.host != nil {
			n.watch()
			continue
		}
		w.queue.add(0, coming, func() {
			n.recorder.Observe(w.clock, trace.Available)
			n.boot()
		})
	}
	w.arrive()
	w.opt.Script.follow(w)
	w.queue.add(0, arriving, w.refill)
	if a := w.opt.Attack; a != nil && a.Begin != nil {
		a.Begin(w.stage)
	}
}

// until lets time pass.
func (w *world) until(end time.Duration) {
	for w.err == nil && !w.stopped {
		e, ok := w.queue.next(end)
		if !ok {
			break
		}
		w.now, w.clock = e.at, w.base.Add(e.at)
		w.stats.Steps++
		e.do()
		if w.thirsty && !w.drained {
			w.thirsty = false
			w.refill()
		}
	}
	w.now, w.clock = end, w.base.Add(end)
}
