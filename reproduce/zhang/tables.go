package zhang

import (
	"fmt"
	"math"
	"slices"

	"godwit/reproduce"
	"godwit/trace"
)

// acceptanceHosts is how many hosts like those of a set are described: fewer miss
// the marks by chance.
const acceptanceHosts = 1500

// A chapter6 is what the thesis's tables 6-1 to 6-4 and 6-7 say of a set.
type chapter6 struct {
	name            string
	events          float64 // per resource-day
	variance        float64 // of the number available
	up, down        float64 // average intervals, hours
	pmcc, pmccHour  float64 // means
	upAgain         float64 // %: an hour available throughout is so again the next day
	dayPairs, daily int     // pairs, series used
	low, high       float64 // % of pairs
}

var chapter6Sets = []chapter6{
	{"ucb", 7.595, 2.719, 0.166, 0.119, 0.06878, 0.03264, 66.61, 2249, 607, 85.68, 0.22},
	{"sdsc", 1.388, 54.375, 2.034, 1.256, 0.03628, 0.07701, 79.86, 1965, 953, 76.79, 1.53},
	{"lri", 0.203, 12.801, 23.535, 3.756, -0.19927, -0.18391, 95.73, 367, 481, 55.86, 21.25},
	{"deug", 2.261, 254.822, 0.477, 0.356, -0.06560, 0.00781, 74.31, 2238, 1719, 60.59, 4.11},
}

// traces is chapter 6: are the hosts that stand for the lost traces like them?
func traces(b *bench) error {
	b.FirstSeed = b.Seed
	sets := make([]*set, len(chapter6Sets))
	stats := make([]*trace.Stats, len(chapter6Sets))
	small := make([]*trace.Stats, len(chapter6Sets)) // with as many hosts as published
	daily := make([]*trace.Stats, len(chapter6Sets)) // the same with the published rhythm of the day
	errs := make([]error, len(chapter6Sets))
	b.ForEach(len(chapter6Sets), func(i int) {
		config := trace.SynthConfig{Hosts: acceptanceHosts, Seed: b.Seed}
		if sets[i], errs[i] = b.set(chapter6Sets[i].name, config); errs[i] == nil {
			stats[i], errs[i] = trace.Describe(sets[i].watched)
		}
		if errs[i] == nil {
			var like *set
			if like, errs[i] = b.set(chapter6Sets[i].name, trace.SynthConfig{Seed: b.Seed}); errs[i] == nil {
				small[i], errs[i] = trace.Describe(like.watched)
			}
			if errs[i] == nil && !sets[i].original {
				daily[i], errs[i] = describe(chapter6Sets[i].name+":rhythm=day", b.Seed)
			}
		}
	})
	for i, c := range chapter6Sets {
		if errs[i] != nil {
			return errs[i]
		}
		b.Say("%s", sets[i].sizes())
		if sets[i].original {
			b.original(sets[i], c, stats[i])
			continue
		}
		b.likeness(sets[i], c, stats[i], small[i], daily[i])
	}
	b.recurrence(sets, stats)
	for i, c := range chapter6Sets {
		b.Lost(sets[i].label()+": average intervals of Table 6-1", fmt.Sprintf("%.3f h available, %.3f h not", c.up, c.down),
			"they are those of Kondo 2005, not of the pooled traces, and contradict the counts of the same chapter; no set "+
				"could have both")
	}
	return nil
}

// original compares a supplied trace with the tables.
func (b *bench) original(s *set, c chapter6, st *trace.Stats) {
	none := claim{}
	b.number(s, "unavailability events a resource-day", c.events, st.PerHostDay, "%.3f", none)
	b.number(s, "variance of the number available", c.variance, st.AtOnce.Variance, "%.3f", none)
	b.number(s, "mean daily rho", c.pmcc, st.Daily.Mean, "%.5f", none)
	b.number(s, "mean hourly rho", c.pmccHour, st.Hourly.Mean, "%.5f", none)
	b.number(s, "daily series that are not constant", float64(c.daily), float64(st.Daily.Series), "%.0f", none)
	b.number(s, "daily pairs", float64(c.dayPairs), float64(st.Daily.Pairs), "%.0f", none)
}

// describe returns the statistics of synthetic hosts with the published sizes.
func describe(kind string, seed uint64) (*trace.Stats, error) {
	t, err := trace.Synthesize(kind, trace.SynthConfig{Seed: seed})
	if err != nil {
		return nil, err
	}
	return trace.Describe(t)
}

// likeness has the marks that the generator was fitted to, and what it is known
// not to have.
func (b *bench) likeness(s *set, c chapter6, st, small, daily *trace.Stats) {
	for _, k := range trace.Acceptance(st) {
		v, note := reproduce.Fitted, fmt.Sprintf("synthetic hosts, fitted; %.3g to %.3g is accepted", k.Least, k.Most)
		if !k.Pass {
			v, note = reproduce.Differs, ""
			if k.Published*k.Obtained < 0 {
				note = "the sign is the opposite one: a host's leaning to some states, which it keeps for days, makes days a " +
					"little alike, and nothing in the hosts makes them contrary"
			}
		}
		b.Add(v, s.label()+": "+k.Figure, write("%.3f", k.Published), write("%.3f", k.Obtained), note)
	}
	b.statement(s, "most days of a host are weakly correlated, |rho| below 0.3", write("%.2f %%", c.low),
		write("%.2f %%", 100*st.Daily.Low), claim{st.Daily.Low > 0.5, "more than half of the pairs", ""})
	why := fmt.Sprintf("nothing in the hosts makes days contrary, and a host's leaning to some states, which it keeps "+
		"for days, makes them a little alike; %.1f %% of pairs are at 0.7 and above (published %.2f %%)",
		100*st.Daily.High, c.high)
	if math.Abs(st.Daily.Mean) < noCorrelation {
		why = "the mixed days of a host are drawn independently of each other, so that they are not correlated at all"
	}
	b.statement(s, "sign of the mean daily rho", write("%+.3f", c.pmcc), write("%+.3f", st.Daily.Mean),
		claim{c.pmcc*st.Daily.Mean > 0 && math.Abs(st.Daily.Mean) >= noCorrelation, "", why})
	variance := small.AtOnce.Variance
	b.statement(s, "variance of the number available over the day, with as many hosts as published",
		write("%.1f", c.variance), write("%.1f", variance),
		claim{variance > c.variance/2 && variance < 2*c.variance, "within a factor of 2",
			fmt.Sprintf("the hosts have no rhythm of the day in common: they begin, leave and come back independently of each "+
				"other; with the rhythm that the generator can add (rhythm=day) the variance is %.1f", daily.AtOnce.Variance)})
}

// noCorrelation is a mean rho that is as good as none.
const noCorrelation = 0.01

// recurrence is the order of the sets by how often a constant hour is so again.
func (b *bench) recurrence(sets []*set, stats []*trace.Stats) {
	order := func(of func(i int) float64) string {
		idx := []int{0, 1, 2, 3}
		slices.SortFunc(idx, func(x, y int) int {
			if of(x) > of(y) {
				return -1
			}
			return 1
		})
		out := ""
		for _, i := range idx {
			out += fmt.Sprintf(" %s %.1f", chapter6Sets[i].name, of(i))
		}
		return out[1:]
	}
	published := order(func(i int) float64 { return chapter6Sets[i].upAgain })
	got := order(func(i int) float64 { return 100 * stats[i].UpHours[0].Probability() })
	best := func(of func(i int) float64) int {
		k := 0
		for i := range chapter6Sets {
			if of(i) > of(k) {
				k = i
			}
		}
		return k
	}
	same := best(func(i int) float64 { return stats[i].UpHours[0].Probability() }) == best(
		func(i int) float64 { return chapter6Sets[i].upAgain })
	least := best(func(i int) float64 { return -stats[i].UpHours[0].Probability() }) == best(
		func(i int) float64 { return -chapter6Sets[i].upAgain })
	cell := "order by how often an hour of availability comes again the next day, %"
	all := together(sets)
	if same && least && slices.ContainsFunc(sets, func(s *set) bool { return !s.original }) {
		b.Add(reproduce.Fitted, all.label()+": "+cell, published, got, "the first and the last are the published ones; "+
			"synthetic hosts: the order follows from figures that they were fitted to")
		return
	}
	b.statement(all, cell, published, got, claim{same && least, "the first and the last are the published ones", ""})
}
