package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"godwit/migrate"
	"godwit/predictor"
	"godwit/scheduler/place"
	"godwit/task"
	"godwit/trace"
)

func newWorld(s *Scenario) (*world, error) {
	span := s.end().Sub(s.Day0())
	if int64(span) >= maxSpan {
		return nil, fmt.Errorf("sim: the run goes from %s to %s: at most %v can be run", stamp(s.Day0()), stamp(s.end()),
			time.Duration(maxSpan))
	}
	w := &world{
		scenario: s, source: newSource(&s.Workload, span, s.Seed),
		backlog: backlog{queue: line{none, none}, barred: make([]bool, len(s.Workload.Classes))},
		placing: placing{placedAt: -1},
	}
	w.rules = rules{
		paper: s.Paper, requeue: s.Workload.Requeue, slots: int32(max(1, s.Hosts.Slots)), ahead: s.Hosts.Ahead,
		memory: s.Hosts.Memory, sharing: s.Hosts.Sharing, speeds: s.Hosts.Speeds, owner: s.Hosts.Owner,
		grace: int64(s.Hosts.Grace), network: s.Network, saves: s.Checkpoints, seed: s.Seed,
	}
	w.start, w.end, w.watch, w.roomy = s.Day0(), int64(span), s.Watch, newHostSet(len(s.Trace.Hosts))
	w.millis = w.start.UnixMilli()
	w.rest = int64(w.start.Sub(time.UnixMilli(w.millis)))
	w.tasks.free = none
	w.perSlot = 1 / float64(w.slots)
	w.view.w = w
	w.classView.view = &w.view
	w.draws = rand.NewPCG(0, 0)
	w.rng = rand.New(w.draws)
	if w.memory == 0 {
		w.memory = math.MaxInt64 / 4
	}
	if s.Paper {
		w.network, w.saves, w.owner, w.grace = Network{}, Checkpoints{}, Kill, 0
	}
	w.situation = w.facts()
	w.tally.boundary = int64(s.Warmup)
	w.tally.days = make([]Day, max(1, (w.end+dayLength-1)/dayLength))
	if err := w.choose(); err != nil {
		return nil, err
	}
	w.cpuMatters = w.speeds == Traced || w.mover != nil
	w.populate()
	return w, nil
}

// choose makes the policies and their forecasts.
func (w *world) choose() (err error) {
	s := w.scenario
	if knowing(s.Placement) {
		w.seer = newOracle(s)
		if w.policy = w.seer; s.Placement == OracleSoonest {
			w.policy = soonest{w.seer}
		}
	} else if w.policy, err = place.ParseWith(s.Predictor, s.Placement); err != nil {
		return err
	}
	if w.mover, err = newMover(s); err != nil {
		return err
	}
	w.chooser, _ = w.mover.(migrate.Mover)
	if w.copier, err = migrate.CopierOf(s.Copies); err != nil {
		return err
	}
	if w.mover != nil && (w.mover.Period() == 0 || w.chooser != nil) {
		w.notices = notices{driven: true, hosts: newHostSet(len(s.Trace.Hosts))}
	}
	w.traits = w.policy.Traits()
	if w.classes = newClasses(w, w.traits.Rate != nil); w.classes != nil {
		w.inOrder = s.Workload.InOrder
	}
	if len(s.Trace.Hosts) >= rankedHosts && s.Rates == nil {
		w.ranks.order = w.traits.Rank
	}
	w.again = int64(w.traits.Again)
	if w.traits.Shares && w.ahead == 0 {
		w.ahead = sharedAhead * int(w.slots)
	}
	w.alike = w.isAlike()
	return w.foresee()
}

// foresee makes the forecasts, one of each model.
func (w *world) foresee() error {
	w.placeForecast, w.moveForecast = place.Unknown{}, place.Unknown{}
	s, made := w.scenario, map[string]place.Forecast{}
	forecast := func(model, of string) (place.Forecast, error) {
		f := made[model]
		if f == nil {
			var err error
			if f, err = w.foretell(model); err != nil {
				return nil, err
			}
			made[model] = f
			if w.model != "" {
				w.model += ", "
			}
			w.model += model + of
		}
		return f, nil
	}
	var placing, moving string
	if own := w.traits.Predictor; own != "" {
		placing = cmp.Or(predictor.Choose(s.Predictor, own), own)
	}
	if p, ok := w.mover.(migrate.Foreteller); ok {
		moving = cmp.Or(predictor.Choose(s.Predictor, p.Predictor()), p.Predictor())
	}
	if w.copier != nil && moving == "" {
		moving = cmp.Or(s.Predictor, savePredictor)
	}
	both := placing != "" && moving != "" && placing != moving
	var err error
	if placing != "" {
		if w.placeForecast, err = forecast(placing, only(both, " (placement)")); err != nil {
			return err
		}
	}
	if moving != "" {
		f, err := forecast(moving, only(both, " (migration)"))
		if err != nil {
			return err
		}
		w.moveForecast = presentForecast{w, f}
	}
	if w.saves.Auto {
		f, err := forecast(cmp.Or(s.Predictor, savePredictor), only(w.model != "", " (checkpoints)"))
		if err != nil {
			return err
		}
		w.saveForecast = presentForecast{w, f}
	}
	return nil
}

func (w *world) foretell(spec string) (place.Forecast, error) {
	m, err := predictor.Parse(spec)
	if err != nil {
		return nil, err
	}
	return telling{newForesight(m, w.scenario)}, nil
}

// populate puts the hosts and the first events on the agenda.
func (w *world) populate() {
	s := w.scenario
	w.hosts = make([]simHost, len(s.Trace.Hosts))
	w.records, w.names = make([]hostRecord, len(w.hosts)), peersOf(len(w.hosts))
	w.hopeless = true
	for i := range w.hosts {
		h, from := &w.hosts[i], &s.Trace.Hosts[i]
		w.records[i] = hostRecord{history: from.History, ghz: from.GHz}
		if from.GHz <= 0 {
			w.records[i].ghz = 1
		}
		*h = simHost{
			armed: never64, wants: never64, graceEnd: never64,
			tasks: line{none, none}, queue: line{none, none}, root: none, state: trace.Unavailable, gone: true, spell: -1,
			speed: 1,
		}
		w.rerate(h)
		w.hopeless = w.hopeless && !w.comes(from.History)
		if at := from.History.Find(w.start); at > 0 {
			h.spell = int32(at) - 1
		}
		if from.History.Len() > 0 && from.History.Until().After(w.start) {
			w.nextChange(int32(i), h, trace.Unobserved)
		}
	}
	w.tally.response.values, w.tally.makespan.values = nil, nil
	for d := dayLength; d <= w.end; d += dayLength {
		w.push(d, phaseEnds, onDay, 0)
	}
	if w.tally.boundary > 0 {
		w.push(w.tally.boundary, phaseEnds, onDay, 1)
	}
	if w.mover != nil && w.mover.Period() > 0 {
		w.push(0, phaseScans, onScan, 0)
	}
	if w.again > 0 {
		w.push(w.again, phaseScans, onAgain, 0)
	}
	if w.copier != nil {
		w.push(tailEvery, phaseScans, onTail, 0)
	}
	w.push(0, phaseArrivals, onOpening, 0)
	w.expect()
}

// comes says whether a host is ever available within the run.
func (l *timeline) comes(h *trace.History) bool {
	end := l.start.Add(time.Duration(l.end))
	for i := max(0, h.Find(l.start)); i < h.Len(); i++ {
		s := h.Spell(i)
		if !s.Start.Before(end) {
			return false
		}
		if s.State == trace.Available && s.End.After(l.start) {
			return true
		}
	}
	return false
}

// only is text, where it applies.
func only(applies bool, text string) string {
	if applies {
		return text
	}
	return ""
}

// A telling is a forecast by the peers' names.
type telling struct{ f *foresight }

// Stay implements place.Forecast.
func (t telling) Stay(peer task.PeerID, now time.Time, d time.Duration) (float64, bool) {
	i, ok := hostOf(peer)
	if !ok || i >= len(t.f.hosts) {
		return 1, false
	}
	return t.f.stay(i, now, d)
}

// sharedAhead is how many tasks beyond each slot a host is given by a policy
// that has hosts share.
const sharedAhead = 8

// newMover makes the migration policy, nil where nothing moves. Where all hosts
// are to be predicted for, a policy that has the choice looks at all.
func newMover(s *Scenario) (migrate.Policy, error) {
	spec := s.Migration
	if spec == "" || spec == "none" {
		return nil, nil
	}
	if s.ScanAll {
		sep := ":"
		for _, c := range spec {
			if c == ':' {
				sep = ","
			}
		}
		if p, err := migrate.ParseWith(s.Predictor, spec+sep+"hosts=available"); err == nil {
			return p, nil
		}
	}
	return migrate.ParseWith(s.Predictor, spec)
}
