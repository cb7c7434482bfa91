package trace

import (
	"math"
	"strings"
)

// A Check compares one figure of a "-like" set with what was published of the
// set that it is like.
type Check struct {
	Figure    string  `json:"figure"`
	Published float64 `json:"published"`
	Obtained  float64 `json:"obtained"`
	Least     float64 `json:"least"` // the range that passes
	Most      float64 `json:"most"`
	Pass      bool    `json:"pass"`
}

// published holds the figures of Zhang 2010, tables 6-1 to 6-8, and what follows
// from them by division; NaN where nothing is published.
type published struct {
	dayUp, dayDown, dayMixed    float64
	hourUp, hourDown, hourMixed float64
	events                      float64
	upHour, downHour, pmcc      float64
}

var likeFigures = map[string]published{
	"UCB-like":  {.241, 0, .759, .545, .001, .454, 7.595, .666, math.NaN(), .069},
	"SDSC-like": {.156, .286, .558, .311, .513, .176, 1.388, .799, .826, .036},
	"LRI-like":  {.164, .586, .250, .304, .681, .015, .203, .957, .990, -.199},
	"DEUG-like": {.019, .620, .361, .118, .796, .085, 2.261, .743, .938, -.066},
}

// Acceptance compares the statistics of a "-like" set with the published ones:
// shares of days and hours within 0.05, events within a fifth, repetition of
// hours the next day within 0.07, and a mean daily PMCC of at most 0.2 whose sign
// is not the opposite of the published one. A PMCC below 0.01 has no sign. These
// marks are the fit's own: how far a likeness should go is not published. Small
// sets miss marks by chance, and 1,500 hosts do not. Acceptance returns nil for
// other traces.
func Acceptance(s *Stats) []Check {
	p, ok := likeFigures[s.Name]
	if !ok || s.Synthetic == "" {
		return nil
	}
	const shareOff, againOff, eventsOff, pmccMost, noSign = 0.05, 0.07, 0.2, 0.2, 0.01
	var out []Check
	add := func(figure string, published, obtained, least, most float64) {
		if !math.IsNaN(published) {
			out = append(out, Check{figure, published, obtained, least, most, obtained >= least && obtained <= most})
		}
	}
	near := func(figure string, published, obtained, off float64) {
		add(figure, published, obtained, published-off, published+off)
	}
	up, down, mixed := s.DayTypes.Shares()
	near("up days", p.dayUp, up, shareOff)
	near("down days", p.dayDown, down, shareOff)
	near("mixed days", p.dayMixed, mixed, shareOff)
	up, down, mixed = s.HourTypes.Shares()
	near("up hours", p.hourUp, up, shareOff)
	near("down hours", p.hourDown, down, shareOff)
	near("mixed hours", p.hourMixed, mixed, shareOff)
	near("events per host-day", p.events, s.PerHostDay, eventsOff*p.events)
	if len(s.UpHours) > 0 {
		near("up hour again next day", p.upHour, s.UpHours[0].Probability(), againOff)
		near("down hour again next day", p.downHour, s.DownHours[0].Probability(), againOff)
	}
	least, most := -noSign, pmccMost
	if p.pmcc < 0 {
		least, most = -pmccMost, noSign
	}
	add("mean daily PMCC", p.pmcc, s.Daily.Mean, least, most)
	return out
}

// Like says whether a name is that of a set with an acceptance table.
func Like(name string) bool {
	_, ok := likeFigures[name]
	return ok && strings.HasSuffix(name, "-like")
}
