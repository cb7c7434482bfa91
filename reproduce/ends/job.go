package ends

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"godwit/ending"
	"godwit/predictor"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// What jobs are drawn from. The ranges are the project's own.
const (
	leastHosts, mostHosts = 30, 150
	leastTasks, mostTasks = 20, 2000
	leastWork, mostWork   = 120.0, 4 * 3600.0 // seconds, mean of a task
	leastIdeal, mostIdeal = 900.0, 30 * 3600.0
	guessSpread           = 0.25            // of the logarithm of what owners guess
	speedSpread           = 0.4             // of the logarithm of hosts' speeds, where they are not known
	learning              = 24 * time.Hour  // of the scheduler, before the job
	past                  = 48 * time.Hour  // of the hosts, before the job
	longest               = 12              // times the ideal that a job is watched for, and
	longestMore           = 2 * 24 * 3600.0 // as much
	saves                 = 10 * time.Minute
	grace                 = 10 * time.Minute
	detect                = 10 * time.Second
	delay                 = 25 * time.Millisecond
	pause                 = time.Second
	drawing               = 0x656e6473 // "ends"

	// placement is the default, but for the order of tasks: the run knows how long each of the job's tasks
	// takes, which no leader does, and would begin with the longest.
	placement = "expected:order=turn"
)

// A drawn job.
type drawn struct {
	rng    *rand.Rand
	hosts  []trace.Host
	trace  *trace.Trace
	at     time.Time // when it is handed in
	there  int
	speeds float64 // of those that are there, together
	works  []float64
	law    string
	mean   float64
	guess  time.Duration
	ideal  float64
}

func peerOf(i int) task.PeerID { return task.PeerID(fmt.Sprintf("host%05d", i)) }

// draw draws a job and its hosts. Jobs that would take too short or too long on the hosts
// that are there are drawn again.
func (s *Set) draw(n int, seed uint64) (*drawn, error) {
	d := &drawn{rng: rand.New(rand.NewPCG(seed, drawing+uint64(n)<<32))}
	count := leastHosts + d.rng.IntN(mostHosts-leastHosts)
	t := s.Measured
	if t == nil {
		var err error
		if t, err = trace.Synthesize(s.Kind, trace.SynthConfig{Hosts: count, Seed: seed<<16 + uint64(n)}); err != nil {
			return nil, err
		}
	}
	const tries = 1000
	for range tries {
		d.pick(t, count)
		if d.speeds == 0 {
			continue
		}
		tasks := int(between(d.rng, leastTasks, mostTasks))
		d.mean = between(d.rng, leastWork, mostWork)
		d.ideal = d.mean * max(1, float64(tasks)/float64(d.there)) * float64(d.there) / d.speeds
		left := t.End.Sub(d.at).Seconds()
		if d.ideal < leastIdeal || d.ideal > mostIdeal || d.ideal*longest/2 > left {
			continue
		}
		d.work(tasks)
		return d, nil
	}
	return nil, fmt.Errorf("no job fits its records in %d tries", tries)
}

// between draws a number whose logarithm is even.
func between(rng *rand.Rand, least, most float64) float64 {
	return least * math.Exp(rng.Float64()*math.Log(most/least))
}

// pick draws the time and the hosts.
func (d *drawn) pick(t *trace.Trace, count int) {
	spare := t.End.Sub(t.Start) - past - learning
	d.at = t.Start.Add(past + time.Duration(d.rng.Int64N(int64(spare)))).Truncate(time.Second)
	some := *t
	some.Hosts = nil
	d.there, d.speeds = 0, 0
	for _, i := range d.rng.Perm(len(t.Hosts)) {
		h := t.Hosts[i]
		if len(some.Hosts) == count {
			break
		}
		if h.History.Len() == 0 || h.History.Since().After(t.End) {
			continue
		}
		if h.GHz == 0 {
			h.GHz = math.Exp(speedSpread * d.rng.NormFloat64())
		}
		some.Hosts = append(some.Hosts, h)
		if k := h.History.Find(d.at); k >= 0 && h.History.Spell(k).State == trace.Available {
			d.there++
			d.speeds += h.GHz
		}
	}
	d.trace = some.Assume(trace.Unavailable)
	d.hosts = d.trace.Hosts
}

// work draws what the tasks take.
func (d *drawn) work(tasks int) {
	laws := []string{"fixed", "uniform", "exponential", "lognormal"}
	d.law = laws[d.rng.IntN(len(laws))]
	sum := 0.0
	for range tasks {
		x := 1.0
		switch d.law {
		case "uniform":
			x = 2 * d.rng.Float64()
		case "exponential":
			x = d.rng.ExpFloat64()
		case "lognormal":
			x = math.Exp(d.rng.NormFloat64()*.5 - .125)
		}
		d.works = append(d.works, max(1, x*d.mean))
		sum += max(1, x*d.mean)
	}
	d.mean = sum / float64(tasks)
	d.guess = time.Duration(d.mean * math.Exp(guessSpread*d.rng.NormFloat64()) * float64(time.Second))
}

// try runs a job of the set and forecasts it.
func (s *Set) try(n int, seed uint64) ([]Trial, error) {
	d, err := s.draw(n, seed)
	if err != nil {
		return nil, err
	}
	b := &book{d: d, tasks: make([]entry, len(d.works))}
	if err := d.play(b, seed); err != nil {
		return nil, err
	}
	var out []Trial
	for _, moment := range []string{Begun, Half} {
		at := d.at
		if moment == Half {
			if at = b.half; at.IsZero() || !b.end.IsZero() && !at.Before(b.end) {
				continue
			}
		}
		job := b.jobAt(at)
		t := Trial{Set: s.Name, Job: n, Moment: moment, Hosts: len(d.hosts), There: d.there, Tasks: len(d.works),
			WorkS: d.mean, Law: d.law, Watched: b.until.Sub(at).Seconds()}
		if !b.end.IsZero() {
			t.Came = b.end.Sub(at).Seconds()
		}
		t.Rate = d.guess.Seconds() * float64(len(d.works)) / d.speeds
		if moment == Half {
			done := float64(len(job.Ended))
			t.Rate = at.Sub(d.at).Seconds() / done * (float64(len(d.works)) - done)
		}
		members, pool := membersAt(d.hosts, at)
		f, err := forecast(at, job, members, pool, seed)
		if err != nil {
			return nil, err
		}
		t.Low, t.Median, t.High = f.Low, f.Median, f.High
		out = append(out, t)
	}
	return out, nil
}

func forecast(at time.Time, job *ending.Job, members []ending.Member, pool *predictor.Pool,
	seed uint64) (ending.Forecast, error) {
	f, err := ending.Ahead(at, job, &ending.Swarm{Members: members, Pool: pool, Detect: detect, Grace: grace},
		ending.Options{Seed: seed})
	if err == nil && f.Reason != "" {
		err = fmt.Errorf("no forecast: %s", f.Reason)
	}
	return f, err
}

// play runs the job on its hosts.
func (d *drawn) play(b *book, seed uint64) error {
	log := &trace.Workload{Name: "ends"}
	for i, w := range d.works {
		log.Jobs = append(log.Jobs, trace.Job{Number: int64(i + 1), Submit: learning.Seconds(), RunTime: w,
			Procs: 1, Status: 1})
	}
	b.until = d.at.Add(time.Duration((d.ideal*longest + longestMore) * float64(time.Second)))
	if b.until.After(d.trace.End) {
		b.until = d.trace.End
	}
	sc := &sim.Scenario{
		Trace: d.trace, Start: d.at.Add(-learning), End: b.until, Seed: seed,
		Placement:   placement,
		Workload:    sim.Workload{Log: log, Requeue: true},
		Hosts:       sim.HostRules{Owner: sim.Suspend, Grace: grace, Speeds: sim.Traced},
		Network:     sim.Network{Delay: delay, Detect: detect},
		Checkpoints: sim.Checkpoints{Every: saves, Pause: pause, Away: true},
		Watch:       b.note,
	}
	_, err := sim.Run(sc)
	return err
}
