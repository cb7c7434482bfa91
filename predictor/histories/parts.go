package histories

import (
	"time"

	"godwit/trace"
)

// mostSpells bounds the spells of a part, whose encoding then fits into every advert that can be sent.
const mostSpells = 128

// MaxSpells bounds the spells of a part that is decoded. Few bytes could name more than anybody sends.
const MaxSpells = mostSpells

// Part encodes a part of the last Days of a history, up to its end, in at most so many bytes. Parts are numbered from
// the newest on. n grows with each advert, so that all parts come round. Times are rounded to the minute. It returns nil
// where there is nothing to tell.
func Part(h *trace.History, n uint64, most int) []byte {
	whole := rounded(h)
	parts := cut(whole, most)
	if len(parts) == 0 {
		return nil
	}
	p := parts[n%uint64(len(parts))]
	return whole.AppendSpells(nil, p.from, p.to)
}

// rounded is the last Days of a history with times of whole minutes. A spell that begins in the minute of another ends
// that one.
func rounded(h *trace.History) *trace.History {
	out := &trace.History{}
	oldest := h.Until().Add(-Days)
	for i := range h.Len() {
		s := h.Spell(i)
		if !s.End.After(oldest) {
			continue
		}
		if s.Start.Before(oldest) {
			s.Start = oldest
		}
		at := s.Start.Truncate(time.Minute)
		if s.State == trace.Unobserved {
			_ = out.Gap(at) // in order, as in h
		} else {
			_ = out.Append(at, s.State, s.CPU)
		}
	}
	out.Extend(h.Until().Truncate(time.Minute))
	return out
}

// A part of a history has some of its spells.
type part struct{ from, to int }

// cut divides a history into parts of at most so many bytes, the newest first. A spell that alone takes more is left
// out.
func cut(h *trace.History, most int) (out []part) {
	for to := h.Len(); to > 0; {
		from := to
		for from > 0 && to-from < mostSpells && len(h.AppendSpells(nil, from-1, to)) <= most {
			from--
		}
		if from == to {
			to--
			continue
		}
		out = append(out, part{from, to})
		to = from
	}
	return out
}
