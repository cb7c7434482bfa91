package trace

import (
	"fmt"
	"time"
)

// watch makes the time outside t's Window unobserved, for formats that cannot
// say so themselves: a list of sessions leaves the nights out as it does
// outages.
func (t *Trace) watch() error {
	if t.Window.Whole() {
		return nil
	}
	if t.Days() > maxDays {
		return fmt.Errorf("the trace spans %d days: a window is taken for at most %d", t.Days(), maxDays)
	}
	total := 0
	for i := range t.Hosts {
		h, err := t.Hosts[i].History.within(t.Window)
		if err != nil {
			return err
		}
		if total += h.Len(); total > MaxSpells {
			return fmt.Errorf("more than %d spells", MaxSpells)
		}
		t.Hosts[i].History = h
	}
	return nil
}

// within returns a copy that knows of nothing outside the window of each day.
func (h *History) within(w Window) (*History, error) {
	out := &History{Host: h.Host}
	for i, c := range h.changes {
		end := h.until
		if i+1 < len(h.changes) {
			end = h.changes[i+1].at
		}
		for from := midnight(time.UnixMilli(c.at)); from.UnixMilli() < end; from = from.Add(day) {
			open, shut := from.Add(w.From).UnixMilli(), from.Add(w.To).UnixMilli()
			a, b := max(c.at, open), min(end, shut)
			if a >= b {
				continue
			}
			c := c
			c.at = a
			if err := out.change(c); err != nil {
				return nil, err
			}
			out.until = b
			if b < shut || b == h.until {
				continue
			}
			if err := out.Gap(time.UnixMilli(b)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
