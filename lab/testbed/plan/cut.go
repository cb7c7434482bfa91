package plan

import (
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/failure"
	"godwit/lab/testbed/clock"
	"godwit/trace"
)

// cutTrace returns the trace from a time on for a length, with no host's state
// unknown: where nobody looked a host was off. It keeps n hosts that are
// available at some time of it, drawn by the seed, in the trace's order.
func cutTrace(t *trace.Trace, n int, from time.Time, length time.Duration, seed uint64) (*trace.Trace, error) {
	to := from.Add(length)
	if from.Before(t.Start) || to.After(t.End) {
		return nil, failure.Usage("choose --from, --speedup and --minutes so that they fit",
			"%s from %s on is not within the trace, which goes from %s to %s", length, stamp(from), stamp(t.Start), stamp(t.End))
	}
	var all []int
	cuts := make([]*trace.History, len(t.Hosts))
	for i, h := range t.Hosts {
		cuts[i] = clock.Cut(h.History, from, to)
		if clock.TimeIn(cuts[i], trace.Available) > 0 {
			all = append(all, i)
		}
	}
	if len(all) < n {
		return nil, failure.Usage("take fewer nodes, or another time with --from",
			"only %d hosts of the trace are ever available in %s from %s on", len(all), length, stamp(from))
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(all))))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	out := *t
	out.Start, out.End, out.Window, out.Samples, out.Hosts = from, to, trace.Window{}, nil, nil
	for _, i := range slices.Sorted(slices.Values(all[:n])) {
		out.Hosts = append(out.Hosts, trace.Host{History: cuts[i], GHz: t.Hosts[i].GHz})
	}
	return &out, nil
}

// wholeTrace returns the trace from a time on for a length with all of its hosts,
// to which rates belong by their numbers.
func wholeTrace(t *trace.Trace, from time.Time, length time.Duration) (*trace.Trace, error) {
	if len(t.Hosts) > MaxNodes {
		return nil, failure.Usage("simulate it: `godwit sim`", "%d machines: at most %d run on this one", len(t.Hosts),
			MaxNodes)
	}
	out := *t
	out.Start, out.End, out.Window, out.Samples, out.Hosts = from, from.Add(length), trace.Window{}, nil, nil
	if from.Before(t.Start) || out.End.After(t.End) {
		return nil, failure.Usage("give the machines more days, or choose --from, --speedup and --minutes so that they fit",
			"%s from %s on is not within the machines' time, which goes from %s to %s", length, stamp(from), stamp(t.Start),
			stamp(t.End))
	}
	for _, h := range t.Hosts {
		out.Hosts = append(out.Hosts, trace.Host{History: clock.Cut(h.History, from, out.End), GHz: h.GHz})
	}
	return &out, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
