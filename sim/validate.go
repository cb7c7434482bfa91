package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"godwit/migrate"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/trace"
)

// What a scenario may be at most. The bounds are far above what is of use, and
// low enough that no sum of times, tasks or bytes runs over.
const (
	maxClasses = 1000
	maxTasks   = 1 << 30 // of a job, and of all that is known to come
	maxSlots   = 1 << 20 // of a host
	maxAhead   = 1 << 20 // of a host
	maxBytes   = 1 << 50
	maxSite    = 64                         // bytes of a site's name, as of an advert's
	longest    = 100 * 365 * 24 * time.Hour // of anything that is a length of time
	maxRate    = 1e15                       // bytes a second
	maxGHz     = 1e6
)

// end is when the run ends.
func (s *Scenario) end() time.Time {
	if s.End.IsZero() && s.Trace != nil {
		return s.Trace.End
	}
	return s.End
}

// Validate says everything that is wrong with a scenario, each with its place and
// the way out. Jobs that no host can ever run are not wrong: the report counts
// them.
func (s *Scenario) Validate() error {
	var p problems
	s.checkTrace(&p)
	s.checkTimes(&p)
	s.checkPolicies(&p)
	s.Hosts.check(&p)
	s.Network.check(&p)
	p.length("checkpoints: every", s.Checkpoints.Every)
	p.length("checkpoints: pause", s.Checkpoints.Pause)
	if s.Checkpoints.Auto && s.Checkpoints.Every != 0 {
		p.add("checkpoints: every is %v and auto: leave out one of them", s.Checkpoints.Every)
	}
	s.checkRates(&p)
	s.Workload.check(&p, s.end().Sub(s.Day0()))
	return errors.Join(p...)
}

// problems gathers what is wrong.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

// length refuses what is no length of time.
func (p *problems) length(of string, d time.Duration) {
	switch {
	case d < 0:
		p.add("%s is %v: write a length of time of 0 or more", of, d)
	case d > longest:
		p.add("%s is %v: write at most %v", of, d, longest)
	}
}

// amount refuses what is no number of bytes.
func (p *problems) amount(of string, n int64) {
	if n < 0 || n > maxBytes {
		p.add("%s is %d bytes: write 0 to %d", of, n, int64(maxBytes))
	}
}

// maxNamed is how many hosts with the same fault are named.
const maxNamed = 3

func (s *Scenario) checkTrace(p *problems) {
	if s.Trace == nil {
		p.add("there is no trace: give one, which has the hosts")
		return
	}
	t := s.Trace
	switch {
	case len(t.Hosts) == 0:
		p.add("trace %s has no hosts: give one that has", t.Name)
	case len(t.Hosts) > trace.MaxHosts:
		p.add("trace %s has %d hosts: at most %d can be run", t.Name, len(t.Hosts), trace.MaxHosts)
	}
	if t.End.Before(t.Start) {
		p.add("trace %s ends %s, before it begins %s: its bounds are mixed up", t.Name, stamp(t.End), stamp(t.Start))
	}
	var faulty int
	for i := range t.Hosts {
		fault := hostFault(t, &t.Hosts[i])
		if fault == "" {
			continue
		}
		if faulty++; faulty <= maxNamed {
			p.add("trace %s: host %d%s %s", t.Name, i, hostName(&t.Hosts[i]), fault)
		}
	}
	if more := faulty - maxNamed; more > 0 {
		p.add("trace %s: %d hosts more have such faults", t.Name, more)
	}
}

func hostName(h *trace.Host) string {
	if h.History == nil || h.History.Host == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", h.History.Host)
}

// hostFault is what is wrong with a host, or "". That its spells do not overlap
// is sure: no History holds such.
func hostFault(t *trace.Trace, h *trace.Host) string {
	switch {
	case h.History == nil || h.History.Len() == 0:
		return "has no spells: leave it out, or say when it is available"
	case !(h.GHz >= 0 && h.GHz <= maxGHz):
		return fmt.Sprintf("has a clock rate of %v GHz: it is 0 (unknown) to %v", h.GHz, float64(maxGHz))
	case h.History.Since().Before(t.Start):
		return fmt.Sprintf("has a spell from %s, before the trace begins %s: set the trace's start",
			stamp(h.History.Since()), stamp(t.Start))
	case h.History.Until().After(t.End):
		return fmt.Sprintf("has a spell to %s, after the trace ends %s: set the trace's end", stamp(h.History.Until()),
			stamp(t.End))
	}
	return ""
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// checkTimes looks at when the run begins and ends.
func (s *Scenario) checkTimes(p *problems) {
	p.length("warmup", s.Warmup)
	if s.Trace == nil {
		return
	}
	start, end := s.Day0(), s.end()
	switch span := end.Sub(start); {
	case span <= 0:
		p.add("the run ends %s, which is not after its start %s: end must be later", stamp(end), stamp(start))
		return
	case span > longest:
		p.add("the run takes %v: at most %v can be run; is the unit of the trace's times right?", span, longest)
	case s.Warmup >= span:
		p.add("warmup is %v and the run takes %v, so that nothing would be reported: shorten warmup", s.Warmup, span)
	}
	if start.Before(s.Trace.Start) {
		p.add("the run starts %s, before the trace does %s: start then or later", stamp(start), stamp(s.Trace.Start))
	}
	if end.After(s.Trace.End) {
		p.add("the run ends %s, but the trace is only known to %s (it may be truncated): end then or sooner", stamp(end),
			stamp(s.Trace.End))
	}
}

// checkPolicies looks for the names; their packages list those that there are.
func (s *Scenario) checkPolicies(p *problems) {
	if !knowing(s.Placement) {
		if err := place.Check(s.Predictor, s.Placement); err != nil {
			p.add("placement: %w (or %s)", err, Oracle)
		}
	}
	if s.Migration != "" {
		if err := migrate.Check(s.Predictor, s.Migration); err != nil {
			p.add("migration: %w", err)
		}
	}
	if _, err := migrate.CopierOf(s.Copies); err != nil {
		p.add("copies: %w", err)
	} else if s.Copies != "" && s.Copies != "none" && (s.Paper || s.Rates != nil) {
		p.add("copies: %s: there are none by the published rules, nor where rates are imposed", s.Copies)
	}
	if _, err := share.Parse(s.Fairness); err != nil {
		p.add("fairness: %w", err)
	}
	if err := chunk.Check(s.Chunking); err != nil {
		p.add("chunking: %w", err)
	}
	if s.Predictor != "" {
		if _, err := predictor.Parse(s.Predictor); err != nil {
			p.add("predictor: %w", err)
		}
	}
}

func (h *HostRules) check(p *problems) {
	if h.Ahead < 0 || h.Ahead > maxAhead {
		p.add("hosts: ahead is %d: write 0 to %d", h.Ahead, maxAhead)
	}
	if h.Slots < 0 || h.Slots > maxSlots {
		p.add("hosts: slots is %d: write 1 to %d (0 is 1)", h.Slots, maxSlots)
	}
	p.amount("hosts: memory", h.Memory)
	for i, site := range h.Sites {
		if site == "" || len(site) > maxSite || slices.Contains(h.Sites[:i], site) {
			p.add("hosts: site %d is called %q: give each a name of its own, of at most %d bytes", i, site, maxSite)
		}
	}
	p.length("hosts: grace", h.Grace)
	if h.Sharing > Share {
		p.add("hosts: sharing %d is unknown: it is Queue or Share", h.Sharing)
	}
	if h.Speeds > Traced {
		p.add("hosts: speeds %d is unknown: it is Uniform or Traced", h.Speeds)
	}
	if h.Owner > Kill {
		p.add("hosts: owner %d is unknown: it is Suspend or Kill", h.Owner)
	}
}

func (n *Network) check(p *problems) {
	p.length("network: delay", n.Delay)
	p.length("network: detect", n.Detect)
	for _, r := range []struct {
		of   string
		rate float64
	}{{"upload", n.Upload}, {"download", n.Download}} {
		if !(r.rate >= 0 && r.rate <= maxRate) {
			p.add("network: %s is %v: write bytes a second, 0 (no bound) to %v", r.of, r.rate, maxRate)
		}
	}
}

// isTime says whether a float can be a time of a log, in seconds.
func isTime(s float64) bool { return s >= 0 && s <= math.MaxInt32*1e3 }
