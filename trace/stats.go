package trace

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Stats describes a trace in the terms of Zhang 2010, chapter 6. A host is up
// while it is Available and down in every other state; time that nobody
// observed is neither. Days, hours, events and correlations are of host-days
// that were observed through the whole Window: a change at the very start of a
// day's window lies between two of them and is no event.
type Stats struct {
	Name      string    `json:"name"`
	Synthetic string    `json:"synthetic,omitempty"`
	Hosts     int       `json:"hosts"`
	Days      int       `json:"days"`
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	Window    string    `json:"window"`
	SampleS   float64   `json:"sample_s"`
	// WindowFrom is when the daily Window opens, after midnight.
	WindowFrom time.Duration `json:"-"`

	Spells     int          `json:"spells"`
	States     []StateShare `json:"states"`         // of the time observed
	Up         Lengths      `json:"up_intervals"`   // whole ones
	Down       Lengths      `json:"down_intervals"` // whole ones
	Share      Quartiles    `json:"host_up_share"`  // over hosts
	AtOnce     AtOnce       `json:"available_at_once"`
	HostDays   int          `json:"host_days"`
	Events     int          `json:"events"`
	PerHostDay float64      `json:"events_per_host_day"`
	DayTypes   Types        `json:"day_types"`
	HourTypes  Types        `json:"hour_types"`
	Daily      Correlation  `json:"pmcc_daily"`
	Hourly     Correlation  `json:"pmcc_hourly"`
	// ByInterval has the mean daily PMCC of pairs 1, 2, ... days apart.
	ByInterval []Interval `json:"pmcc_by_days_apart"`
	Again
}

// Again says how often a series that was up, or down, all through was so again 1,
// 2, ... days later (equation 6.1): hours are compared with the same hour.
type Again struct {
	UpDays    []Recurrence `json:"up_days_again"`
	DownDays  []Recurrence `json:"down_days_again"`
	UpHours   []Recurrence `json:"up_hours_again"`
	DownHours []Recurrence `json:"down_hours_again"`
}

// A StateShare is the share of observed time that hosts were in a state.
type StateShare struct {
	State State   `json:"state"`
	Share float64 `json:"share"`
}

// Lengths describes intervals. Those that begin before the record, or end after
// it or in time that nobody observed, have no known length: Cut counts them.
type Lengths struct {
	Count  int     `json:"count"`
	Cut    int     `json:"cut"`
	Mean   float64 `json:"mean_h"`
	Median float64 `json:"median_h"`
	P90    float64 `json:"p90_h"`
	// Hours has every known length, ascending.
	Hours []float64 `json:"-"`
}

// Quartiles describes one number of every host.
type Quartiles struct {
	Mean float64 `json:"mean"`
	Q1   float64 `json:"q1"`
	Q2   float64 `json:"median"`
	Q3   float64 `json:"q3"`
}

// AtOnce says how many hosts are available at a moment, looked at once a
// minute.
type AtOnce struct {
	Min      int     `json:"min"`
	Max      int     `json:"max"`
	MeanMin  float64 `json:"mean_min"` // of ByTime
	MeanMax  float64 `json:"mean_max"`
	Variance float64 `json:"variance"` // of ByTime over the window
	// ByTime is the mean over days at each minute of the window.
	ByTime []float64 `json:"by_minute"`
}

// Types counts series by whether the host was up throughout, down throughout,
// or neither.
type Types struct {
	Up    int `json:"up"`
	Down  int `json:"down"`
	Mixed int `json:"mixed"`
}

func (t *Types) add(k kind) {
	switch k {
	case allUp:
		t.Up++
	case allDown:
		t.Down++
	default:
		t.Mixed++
	}
}

// Total is how many series there are.
func (t Types) Total() int { return t.Up + t.Down + t.Mixed }

// Shares returns the three counts as shares of the total.
func (t Types) Shares() (up, down, mixed float64) {
	n := math.Max(1, float64(t.Total()))
	return float64(t.Up) / n, float64(t.Down) / n, float64(t.Mixed) / n
}

// Correlation describes the product-moment correlation of pairs of mixed series
// of one host. Low is the share with an absolute value below 0.3, High of those
// from 0.7.
type Correlation struct {
	Series int     `json:"series"` // mixed ones
	Pairs  int     `json:"pairs"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	Low    float64 `json:"low"`
	Medium float64 `json:"medium"`
	High   float64 `json:"high"`
	// Histogram counts pairs in twentieths of -1 to 1.
	Histogram [pmccBins]int `json:"histogram"`
}

const pmccBins = 20

// An Interval is the mean correlation of days that lie Days apart.
type Interval struct {
	Days  int     `json:"days"`
	Pairs int     `json:"pairs"`
	Mean  float64 `json:"mean"`
}

// A Recurrence says how often the type of a series came again Days later.
type Recurrence struct {
	Days  int `json:"days"`
	Again int `json:"again"`
	Of    int `json:"of"`
}

// Probability is Again by Of, NaN where there was nothing to come again.
func (r Recurrence) Probability() float64 { return float64(r.Again) / float64(r.Of) }

// maxApart is the most days between two series that are compared, two weeks; it
// keeps the work linear in the days. The published tables go to 9.
const maxApart = 14

// Describe computes a trace's statistics. It fails for traces of more than ten
// years, which is more often a wrong unit of time than a record.
func Describe(t *Trace) (*Stats, error) {
	days := t.Days()
	if days > maxDays {
		return nil, fmt.Errorf("the trace spans %d days, from %s to %s: at most %d can be described (are its times seconds?)",
			days, t.Start.Format(time.DateOnly), t.End.Format(time.DateOnly), maxDays)
	}
	if err := t.Window.Check(); err != nil {
		return nil, err
	}
	d := newDescription(t, days)
	for _, h := range t.Hosts {
		d.spells(h.History)
		d.days(h.History)
	}
	return d.finish(), nil
}

// A description is Stats in the making.
type description struct {
	s           *Stats
	first       int64 // start of the first day's window, Unix milliseconds
	length      int64 // of the window, milliseconds
	nDays       int
	time        [len(stateTexts)]int64
	up, down    []float64 // lengths, hours
	shares      []float64
	atOnce      []int32 // changes of the count, by day and minute
	daily       []sums  // by days apart, from 1
	hourly      sums
	dayRow      []series
	hourRow     []series
	again       [4][]Recurrence
	from, to    int64 // the trace's bounds
	minutesADay int
}

const (
	hourMS   = 3600_000
	minuteMS = 60_000
)

func newDescription(t *Trace, days int) *description {
	d := &description{
		s: &Stats{
			Name: t.Name, Synthetic: t.Synthetic, Hosts: len(t.Hosts), Days: days, Start: t.Start, End: t.End,
			Window: t.Window.String(), SampleS: t.Sample.Seconds(),
			WindowFrom: t.Window.From,
		},
		first:  midnight(t.Start).Add(t.Window.From).UnixMilli(),
		length: t.Window.Length().Milliseconds(),
		nDays:  days,
		from:   t.Start.UnixMilli(),
		to:     t.End.UnixMilli(),
	}
	d.minutesADay = int(d.length / minuteMS)
	d.atOnce = make([]int32, days*d.minutesADay+1)
	apart := min(maxApart, max(0, days-1))
	d.daily = make([]sums, apart)
	d.dayRow, d.hourRow = make([]series, days), make([]series, days)
	for i := range d.again {
		d.again[i] = make([]Recurrence, apart)
		for x := range d.again[i] {
			d.again[i][x].Days = x + 1
		}
	}
	return d
}

// spells takes a host's states and intervals.
func (d *description) spells(h *History) {
	d.s.Spells += h.Len()
	var upTime, observed int64
	// A run is an interval of up or of down: whole if both its ends were seen.
	from, isUp, whole := int64(0), false, false
	end := func(at int64, seen bool) {
		lengths, stats := &d.down, &d.s.Down
		if isUp {
			lengths, stats = &d.up, &d.s.Up
		}
		if at == from {
			return
		}
		if whole && seen {
			*lengths = append(*lengths, float64(at-from)/hourMS)
		} else {
			stats.Cut++
		}
	}
	running := false
	for i, c := range h.changes {
		until := h.until
		if i+1 < len(h.changes) {
			until = h.changes[i+1].at
		}
		if c.state == Unobserved {
			if running {
				end(c.at, false)
			}
			running = false
			continue
		}
		d.time[c.state] += until - c.at
		observed += until - c.at
		now := c.state == Available
		if now {
			upTime += until - c.at
			d.present(c.at, until)
		}
		if !running {
			from, isUp, whole, running = c.at, now, false, true
		} else if now != isUp {
			end(c.at, true)
			from, isUp, whole = c.at, now, true
		}
	}
	if running {
		end(h.until, false)
	}
	if observed > 0 {
		d.shares = append(d.shares, float64(upTime)/float64(observed))
	}
}

// minute returns the index of the first moment looked at, at or after a time.
func (d *description) minute(ms int64) int {
	const dayMS = 24 * hourMS
	off := ms - d.first
	if off < 0 {
		return 0
	}
	n, in := off/dayMS, off%dayMS
	return min(int(n)*d.minutesADay+min(int((in+minuteMS-1)/minuteMS), d.minutesADay), len(d.atOnce)-1)
}

// present counts a host at the moments of an interval.
func (d *description) present(from, to int64) {
	d.atOnce[d.minute(from)]++
	d.atOnce[d.minute(to)]--
}

// days takes a host's days and hours.
func (d *description) days(h *History) {
	const dayMS = 24 * hourMS
	hours := int(d.length / hourMS)
	i := 0
	for n := range d.dayRow {
		d.dayRow[n], i = h.at(d.first+int64(n)*dayMS, d.length, i)
		if s := d.dayRow[n]; s.known {
			d.s.HostDays++
			d.s.Events += s.events(d.length)
		}
	}
	d.compare(d.dayRow, d.length, &d.s.DayTypes, d.again[0], d.again[1],
		func(x int, rho float64) { d.daily[x-1].add(rho) })
	row := d.hourRow
	for hour := range hours {
		for n, s := range d.dayRow {
			row[n] = s.part(int64(hour)*hourMS, hourMS)
		}
		d.compare(row, hourMS, &d.s.HourTypes, d.again[2], d.again[3], func(_ int, rho float64) { d.hourly.add(rho) })
	}
}

// compare takes one host's series of consecutive days: their types, how these
// recur, and the correlation of those that are mixed.
func (d *description) compare(row []series, length int64, types *Types, up, down []Recurrence,
	pair func(apart int, rho float64)) {
	for a, s := range row {
		if !s.known {
			continue
		}
		types.add(s.kind)
		for b := a + 1; b < len(row) && b-a <= len(up); b++ {
			o := row[b]
			if !o.known {
				continue
			}
			again := down
			switch {
			case s.kind == mixed && o.kind == mixed:
				pair(b-a, s.pmcc(o, length))
				continue
			case s.kind == mixed:
				continue
			case s.kind == allUp:
				again = up
			}
			again[b-a-1].Of++
			if o.kind == s.kind {
				again[b-a-1].Again++
			}
		}
	}
}

// finish turns sums into statistics.
func (d *description) finish() *Stats {
	s := d.s
	var total int64
	for _, t := range d.time {
		total += t
	}
	for state, t := range d.time {
		s.States = append(s.States, StateShare{State(state), float64(t) / math.Max(1, float64(total))})
	}
	s.Up.describe(d.up)
	s.Down.describe(d.down)
	slices.Sort(d.shares)
	s.Share = Quartiles{mean(d.shares), quantile(d.shares, 0.25), quantile(d.shares, 0.5), quantile(d.shares, 0.75)}
	s.PerHostDay = float64(s.Events) / math.Max(1, float64(s.HostDays))
	s.AtOnce = d.curve()
	var all sums
	for x, p := range d.daily {
		all.merge(p)
		s.ByInterval = append(s.ByInterval, Interval{x + 1, p.n, p.mean()})
	}
	s.Daily, s.Hourly = all.correlation(s.DayTypes.Mixed), d.hourly.correlation(s.HourTypes.Mixed)
	s.UpDays, s.DownDays, s.UpHours, s.DownHours = d.again[0], d.again[1], d.again[2], d.again[3]
	return s
}

// curve counts the hosts at every moment that the trace covers.
func (d *description) curve() AtOnce {
	const dayMS = 24 * hourMS
	out := AtOnce{Min: math.MaxInt}
	sum, days := make([]float64, d.minutesADay), make([]int, d.minutesADay)
	count := 0
	for i, change := range d.atOnce[:len(d.atOnce)-1] {
		count += int(change)
		n, m := i/d.minutesADay, i%d.minutesADay
		if at := d.first + int64(n)*dayMS + int64(m)*minuteMS; at < d.from || at >= d.to {
			continue
		}
		out.Min, out.Max = min(out.Min, count), max(out.Max, count)
		sum[m] += float64(count)
		days[m]++
	}
	if out.Min == math.MaxInt {
		return AtOnce{}
	}
	out.MeanMin = math.Inf(1)
	var seen []float64
	for m := range sum {
		v := sum[m] / math.Max(1, float64(days[m]))
		out.ByTime = append(out.ByTime, v)
		if days[m] > 0 {
			seen = append(seen, v)
			out.MeanMin, out.MeanMax = min(out.MeanMin, v), max(out.MeanMax, v)
		}
	}
	average := mean(seen)
	for _, v := range seen {
		out.Variance += (v - average) * (v - average) / float64(len(seen))
	}
	return out
}

func (l *Lengths) describe(hours []float64) {
	slices.Sort(hours)
	l.Hours = hours
	l.Count, l.Mean, l.Median, l.P90 = len(hours), mean(hours), quantile(hours, 0.5), quantile(hours, 0.9)
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / math.Max(1, float64(len(x)))
}

// quantile is the value of rank ceil(q n) of sorted numbers; 0 of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// sums gathers correlations.
type sums struct {
	n, low, high  int
	sum, min, max float64
	bins          [pmccBins]int
}

func (s *sums) add(rho float64) {
	if s.n == 0 {
		s.min, s.max = rho, rho
	}
	s.n++
	s.sum += rho
	s.bins[min(pmccBins-1, int((rho+1)/2*pmccBins))]++
	s.min, s.max = min(s.min, rho), max(s.max, rho)
	switch a := math.Abs(rho); {
	case a < 0.3:
		s.low++
	case a >= 0.7:
		s.high++
	}
}

func (s *sums) merge(o sums) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = o
		return
	}
	s.n, s.low, s.high, s.sum = s.n+o.n, s.low+o.low, s.high+o.high, s.sum+o.sum
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	for i, n := range o.bins {
		s.bins[i] += n
	}
}

func (s *sums) mean() float64 { return s.sum / math.Max(1, float64(s.n)) }

func (s *sums) correlation(mixed int) Correlation {
	n := math.Max(1, float64(s.n))
	return Correlation{mixed, s.n, s.min, s.max, s.mean(), float64(s.low) / n, float64(s.n-s.low-s.high) / n,
		float64(s.high) / n, s.bins}
}
