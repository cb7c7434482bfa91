package owner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Hours are the times of a week in which to work. A weekday without an entry
// is free all day; the zero value is every hour of the week.
type Hours struct {
	days [7]*day // by time.Weekday
}

// A day is the spans of a weekday in which to work, in the order written; none
// for a day without work.
type day []span

// A span is minutes from midnight on; to above a day's minutes reaches into the
// next day.
type span struct{ from, to int }

const dayMinutes = 24 * 60

// weekdays are the names in the file, by time.Weekday.
var weekdays = [7]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// Always says whether there is no hour without work.
func (h Hours) Always() bool { return h.days == [7]*day{} }

// Open says whether t, by the clock of its location, is a time to work.
func (h Hours) Open(t time.Time) bool {
	minute := t.Hour()*60 + t.Minute()
	today, before := h.days[t.Weekday()], h.days[(t.Weekday()+6)%7]
	if today == nil || covers(*today, minute) {
		return true
	}
	return before != nil && covers(*before, minute+dayMinutes)
}

func covers(d day, minute int) bool {
	return slices.ContainsFunc(d, func(s span) bool { return s.from <= minute && minute < s.to })
}

// Next returns when Open changes after t; the zero time if it never does.
func (h Hours) Next(t time.Time) time.Time {
	now := h.Open(t)
	// Each change is at the beginning or end of a span, or at midnight. A week
	// and a day see every one of them.
	for ahead := range 9 {
		y, m, d := t.Date()
		weekday := (int(t.Weekday()) + ahead) % 7
		for _, minute := range h.edges(weekday) {
			at := time.Date(y, m, d+ahead, 0, minute, 0, 0, t.Location())
			if at.After(t) && h.Open(at) != now {
				return at
			}
		}
	}
	return time.Time{}
}

// edges are the minutes of a weekday at which something may change, ascending.
func (h Hours) edges(weekday int) []int {
	out := []int{0}
	if d := h.days[weekday]; d != nil {
		for _, s := range *d {
			out = append(out, s.from, s.to)
		}
	}
	if d := h.days[(weekday+6)%7]; d != nil {
		for _, s := range *d {
			out = append(out, s.to-dayMinutes)
		}
	}
	out = slices.DeleteFunc(out, func(m int) bool { return m < 0 || m >= dayMinutes })
	slices.Sort(out)
	return slices.Compact(out)
}

const (
	dayAlways = "always"
	dayNever  = "never"
	maxSpans  = 24 // of one day
)

// parseDay reads "always", "never", or spans such as "18:00-23:30, 0-6"; one
// that ends before it begins reaches into the next day.
func parseDay(s string) (*day, error) {
	switch strings.TrimSpace(s) {
	case dayAlways:
		return &day{{0, dayMinutes}}, nil
	case dayNever:
		return &day{}, nil
	}
	var d day
	for part := range strings.SplitSeq(s, ",") {
		from, to, ok := strings.Cut(part, "-")
		a, errA := parseMinute(from)
		b, errB := parseMinute(to)
		if !ok || errA != nil || errB != nil || a == b || len(d) == maxSpans {
			return nil, fmt.Errorf("%q is no time such as 18:00-23:30", strings.TrimSpace(part))
		}
		if b < a {
			b += dayMinutes
		}
		d = append(d, span{a, b})
	}
	return &d, nil
}

// parseMinute reads "18" or "18:30"; 24:00 is the end of the day.
func parseMinute(s string) (int, error) {
	hour, minute, some := strings.Cut(strings.TrimSpace(s), ":")
	h, err := strconv.Atoi(hour)
	m := 0
	if err == nil && some {
		m, err = strconv.Atoi(minute)
	}
	if n := h*60 + m; err == nil && h >= 0 && m >= 0 && m < 60 && n <= dayMinutes && len(minute) != 1 {
		return n, nil
	}
	return 0, fmt.Errorf("%q is no time of day", s)
}

func (d *day) String() string {
	switch {
	case len(*d) == 0:
		return dayNever
	case len(*d) == 1 && (*d)[0] == span{0, dayMinutes}:
		return dayAlways
	}
	var parts []string
	for _, s := range *d {
		to := s.to
		if to > dayMinutes {
			to -= dayMinutes
		}
		parts = append(parts, fmt.Sprintf("%02d:%02d-%02d:%02d", s.from/60, s.from%60, to/60, to%60))
	}
	return strings.Join(parts, ", ")
}
