package trace

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Minutes of a trace that starts at midnight: what each host was doing, minute for
// minute. Statistics are counted from them in the most literal way.
type minutes [][]State

// drawMinutes draws hosts over some days, in spells of a few minutes to a day, and
// the trace that records them.
func drawMinutes(t *rapid.T) (minutes, *Trace) {
	const perDay = 1440
	begin := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	days := rapid.IntRange(1, 4).Draw(t, "days")
	tr := &Trace{Name: "drawn", Start: begin, End: begin.Add(time.Duration(days) * day)}
	if rapid.Bool().Draw(t, "watched in part") {
		from := rapid.IntRange(0, 20).Draw(t, "from")
		tr.Window = Window{time.Duration(from) * time.Hour,
			time.Duration(from+rapid.IntRange(1, 4).Draw(t, "hours")) * time.Hour}
	}
	var all minutes
	for i := range rapid.IntRange(1, 3).Draw(t, "hosts") {
		h := &History{Host: string(rune('a' + i))}
		row := make([]State, 0, days*perDay)
		for len(row) < days*perDay {
			s := State(rapid.IntRange(0, int(Unobserved)).Draw(t, "state"))
			n := rapid.SampledFrom([]int{7, 30, 60, 210, 480, perDay}).Draw(t, "length")
			row = append(row, slices.Repeat([]State{s}, min(n, days*perDay-len(row)))...)
		}
		for m, s := range row {
			if m > 0 && row[m-1] == s {
				continue
			}
			when := begin.Add(time.Duration(m) * time.Minute)
			if s == Unobserved {
				if err := h.Gap(when); err != nil {
					t.Fatal(err)
				}
			} else if err := h.Append(when, s, 1); err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(tr.End)
		all = append(all, row)
		tr.Hosts = append(tr.Hosts, Host{History: h})
	}
	return all, tr
}

// window is what a host did in the window of one day, or in one hour of it; ok is
// false where nobody looked throughout.
func (m minutes) window(host, from, length int) (row []State, ok bool) {
	row = m[host][from : from+length]
	return row, !slices.Contains(row, Unobserved)
}

// literal is the type of a series, and when it was up.
func literal(row []State) (k kind, up []float64) {
	n := 0
	for _, s := range row {
		up = append(up, 0)
		if s == Available {
			up[len(up)-1] = 1
			n++
		}
	}
	switch n {
	case len(row):
		return allUp, up
	case 0:
		return allDown, up
	}
	return mixed, up
}

// pearson is the product-moment correlation of two series, as the textbooks have it.
func pearson(x, y []float64) float64 {
	n, mx, my := float64(len(x)), mean(x), mean(y)
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my) / n
		xx += (x[i] - mx) * (x[i] - mx) / n
		yy += (y[i] - my) * (y[i] - my) / n
	}
	return xy / math.Sqrt(xx*yy)
}

// TestDescribeAgreesWithMinutes: shares, types, events, recurrences, correlations and
// the number at once are those that counting minutes gives.
func TestDescribeAgreesWithMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, tr := drawMinutes(t)
		s, err := Describe(tr)
		if err != nil {
			t.Fatal(err)
		}
		open, length := int(tr.Window.From/time.Minute), int(tr.Window.Length()/time.Minute)
		days := tr.Days()
		var dayTypes, hourTypes Types
		var events, hostDays int
		var daily, hourly []float64
		again := [4][]Recurrence{}
		for i := range again {
			for apart := 1; apart < days; apart++ {
				again[i] = append(again[i], Recurrence{Days: apart})
			}
		}
		series := func(host, offset, size int, types *Types, up, down []Recurrence, pairs *[]float64) {
			for a := range days {
				row, ok := m.window(host, a*1440+open+offset, size)
				if !ok {
					continue
				}
				k, x := literal(row)
				types.add(k)
				for b := a + 1; b < days; b++ {
					other, ok := m.window(host, b*1440+open+offset, size)
					if !ok {
						continue
					}
					l, y := literal(other)
					switch {
					case k == mixed && l == mixed:
						*pairs = append(*pairs, pearson(x, y))
					case k != mixed:
						r := &down[b-a-1]
						if k == allUp {
							r = &up[b-a-1]
						}
						if r.Of++; l == k {
							r.Again++
						}
					}
				}
			}
		}
		for host := range m {
			for d := range days {
				row, ok := m.window(host, d*1440+open, length)
				if !ok {
					continue
				}
				hostDays++
				for i := 1; i < len(row); i++ {
					if row[i-1] == Available && row[i] != Available {
						events++
					}
				}
			}
			series(host, 0, length, &dayTypes, again[0], again[1], &daily)
			for hour := range length / 60 {
				series(host, hour*60, 60, &hourTypes, again[2], again[3], &hourly)
			}
		}
		if s.DayTypes != dayTypes || s.Events != events || s.HostDays != hostDays {
			t.Fatalf("%+v, %d events, %d host-days; counted %+v, %d, %d", s.DayTypes, s.Events, s.HostDays, dayTypes,
				events, hostDays)
		}
		if s.Daily.Pairs != len(daily) || math.Abs(s.Daily.Mean-mean(daily)) > 1e-9 {
			t.Fatalf("daily: %d pairs of %v; counted %d of %v", s.Daily.Pairs, s.Daily.Mean, len(daily), mean(daily))
		}
		if !slices.Equal(s.UpDays, again[0]) || !slices.Equal(s.DownDays, again[1]) {
			t.Fatalf("days again: %v, %v; counted %v, %v", s.UpDays, s.DownDays, again[0], again[1])
		}
		// An hour of a day that nobody watched throughout is not taken either.
		if s.HourTypes.Total() != hostDays*(length/60) {
			t.Fatalf("%d hours of %d host-days", s.HourTypes.Total(), hostDays)
		}
		if hostDays == len(m)*days && (s.HourTypes != hourTypes || s.Hourly.Pairs != len(hourly) ||
			math.Abs(s.Hourly.Mean-mean(hourly)) > 1e-9 ||
			!slices.Equal(s.UpHours, again[2]) || !slices.Equal(s.DownHours, again[3])) {
			t.Fatalf("hours: %+v, %+v; counted %+v, %d pairs of %v", s.HourTypes, s.Hourly, hourTypes, len(hourly),
				mean(hourly))
		}
		sharesAgree(t, s, m)
		atOnceAgrees(t, s, m, open, length)
	})
}

// sharesAgree compares the shares of time by state, and of hosts.
func sharesAgree(t *rapid.T, s *Stats, m minutes) {
	var count [Unobserved + 1]float64
	var shares []float64
	for _, row := range m {
		up, seen := 0.0, 0.0
		for _, state := range row {
			count[state]++
			if state != Unobserved {
				seen++
			}
			if state == Available {
				up++
			}
		}
		if seen > 0 {
			shares = append(shares, up/seen)
		}
	}
	observed := 0.0
	for _, n := range count[:Unobserved] {
		observed += n
	}
	for _, share := range s.States {
		if want := count[share.State] / math.Max(1, observed); math.Abs(share.Share-want) > 1e-9 {
			t.Fatalf("%v %v of the time; counted %v", share.State, share.Share, want)
		}
	}
	if math.Abs(s.Share.Mean-mean(shares)) > 1e-9 {
		t.Fatalf("hosts are up %v of the time; counted %v", s.Share.Mean, mean(shares))
	}
}

// atOnceAgrees compares how many hosts are there at the beginning of each minute.
func atOnceAgrees(t *rapid.T, s *Stats, m minutes, open, length int) {
	least, most := math.MaxInt, 0
	byTime := make([]float64, length)
	for d := range s.Days {
		for i := range length {
			n := 0
			for _, row := range m {
				if row[d*1440+open+i] == Available {
					n++
				}
			}
			least, most = min(least, n), max(most, n)
			byTime[i] += float64(n) / float64(s.Days)
		}
	}
	if s.AtOnce.Min != least || s.AtOnce.Max != most {
		t.Fatalf("%d to %d at once; counted %d to %d", s.AtOnce.Min, s.AtOnce.Max, least, most)
	}
	for i, want := range byTime {
		if math.Abs(s.AtOnce.ByTime[i]-want) > 1e-9 {
			t.Fatalf("minute %d: %v at once; counted %v", i, s.AtOnce.ByTime[i], want)
		}
	}
	average, variance := mean(byTime), 0.0
	for _, n := range byTime {
		variance += (n - average) * (n - average) / float64(length)
	}
	if math.Abs(s.AtOnce.Variance-variance) > 1e-9 {
		t.Fatalf("variance %v; counted %v", s.AtOnce.Variance, variance)
	}
}

// TestQuantiles: the value of rank ceil(q n), as counting gives it.
func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 20).Draw(t, "numbers")
		slices.Sort(x)
		q := rapid.Float64Range(0.001, 1).Draw(t, "q")
		got, least := quantile(x, q), 0
		for _, v := range x {
			if v <= got {
				least++
			}
		}
		if float64(least) < q*float64(len(x))-1e-9 {
			t.Fatalf("%v is the %v quantile of %v: only %d are no larger", got, q, x, least)
		}
		if i := slices.Index(x, got); i > 0 && float64(i) >= q*float64(len(x))+1e-9 {
			t.Fatalf("%v is the %v quantile of %v: a smaller one would do", got, q, x)
		}
	})
	if quantile(nil, 0.5) != 0 || mean(nil) != 0 {
		t.Error("of no numbers: want 0")
	}
}

// TestAcceptance: what is published of a set passes as it is, and each figure fails
// just outside its mark; a set that was measured is not judged.
func TestAcceptance(t *testing.T) {
	exact := func() *Stats { // of UCB: 1000 days, 10000 hours
		return &Stats{Name: "UCB-like", Synthetic: "by hand", DayTypes: Types{241, 0, 759},
			HourTypes: Types{5450, 10, 4540}, PerHostDay: 7.595,
			Daily: Correlation{Mean: .069},
			Again: Again{UpHours: []Recurrence{{1, 666, 1000}}, DownHours: []Recurrence{{1, 5, 10}}}}
	}
	checks := Acceptance(exact())
	if len(checks) != 9 { // whether hours down repeat is not published
		t.Errorf("%d figures, want 9", len(checks))
	}
	for _, c := range checks {
		if !c.Pass || math.Abs(c.Obtained-c.Published) > 1e-9 {
			t.Errorf("%+v", c)
		}
	}
	for name, change := range map[string]func(*Stats){
		"up days":                func(s *Stats) { s.DayTypes = Types{292, 1, 707} },
		"mixed days":             func(s *Stats) { s.DayTypes = Types{213, 88, 699} },
		"up hours":               func(s *Stats) { s.HourTypes.Up = 7000 },
		"events per host-day":    func(s *Stats) { s.PerHostDay *= 1.21 },
		"up hour again next day": func(s *Stats) { s.UpHours[0].Again = 595 },
		"mean daily PMCC":        func(s *Stats) { s.Daily.Mean = 0.201 },
	} {
		s := exact()
		change(s)
		failed := map[string]bool{}
		for _, c := range Acceptance(s) {
			failed[c.Figure] = !c.Pass
		}
		if !failed[name] {
			t.Errorf("%s: passes", name)
		}
	}
	for _, tt := range []struct {
		set  string
		mean float64
		pass bool
	}{
		{"UCB-like", .069, true}, {"UCB-like", .2, true}, {"UCB-like", -.009, true}, {"UCB-like", -.011, false},
		{"LRI-like", -.199, true}, {"LRI-like", -.201, false}, {"LRI-like", .009, true}, {"LRI-like", .141, false},
		{"DEUG-like", .099, false},
	} {
		s := exact()
		s.Name, s.Daily.Mean = tt.set, tt.mean
		for _, c := range Acceptance(s) {
			if c.Figure == "mean daily PMCC" && c.Pass != tt.pass {
				t.Errorf("%s: a mean daily PMCC of %v: passes %v, want %v", tt.set, tt.mean, c.Pass, tt.pass)
			}
		}
	}
	measured := exact()
	measured.Synthetic = ""
	other := exact()
	other.Name = "UCB"
	if Acceptance(measured) != nil || Acceptance(other) != nil {
		t.Error("a set that is not in the likeness of one is judged")
	}
	for name, want := range map[string]bool{"UCB-like": true, "DEUG-like": true, "UCB": false, "relays-like": false,
		"": false} {
		if Like(name) != want {
			t.Errorf("Like(%q): want %v", name, want)
		}
	}
}
