package ending

import (
	"math/rand/v2"
	"time"

	"godwit/predictor"
)

// hoursOfWeek is how many hours a record tells one by one.
const hoursOfWeek = 7 * hoursPerDay

// A week is the last one of a member, by the hour: where its days are alike it does as a
// week ago, all members with it, whatever its survival record says of days at large.
type week struct {
	whole [hoursOfWeek]bool // at hours since 1970 modulo a week: it was available all through
	// rhythm is by how much hours are more like those a day earlier than by chance, 0 to 1
	// (Cohen's kappa, 1960); 0 where less than a week is known.
	rhythm float64
}

// weekOf reads it from a record.
func weekOf(r *predictor.Record, now time.Time) (w week) {
	if int(r.Known) < hoursOfWeek || r.Since == 0 {
		return w
	}
	since, until := int64(r.Since)/secondsPerHour, now.Unix()/secondsPerHour
	if until-since >= hoursOfWeek {
		return w
	}
	for h := since - hoursOfWeek; h < since; h++ {
		k := h % hoursOfWeek
		w.whole[k] = r.Whole[k/8]>>(k%8)&1 == 1
	}
	for h := since; h < until; h++ {
		w.whole[h%hoursOfWeek] = r.Up && h > since
	}
	same, up := 0.0, 0.0
	const pairs = hoursOfWeek - hoursPerDay
	for h := until - pairs; h < until; h++ {
		if w.at(h) == w.at(h-hoursPerDay) {
			same += 1. / pairs
		}
		if w.at(h) {
			up += 1. / pairs
		}
	}
	if chance := up*up + (1-up)*(1-up); chance < 1 {
		w.rhythm = max(0, (same-chance)/(1-chance))
	}
	return w
}

const secondsPerHour = 3600

func (w *week) at(hour int64) bool { return w.whole[((hour%hoursOfWeek)+hoursOfWeek)%hoursOfWeek] }

// next is when a member that is there, or not, changes: in so many seconds, by what it did
// a week before. What it does now it does until it did so then, too, and did not any more.
func (w *week) next(at time.Time, there bool, rng *rand.Rand) float64 {
	from := at.Unix() / secondsPerHour
	h := from + 1
	for h < from+hoursOfWeek && w.at(h) != there {
		h++
	}
	for h < from+hoursOfWeek && w.at(h) == there {
		h++
	}
	// It left at some time of the first hour that was not whole, and came in the last.
	edge := float64(h) + rng.Float64()
	if !there {
		edge = float64(h) - rng.Float64()
	}
	return max(1, edge*secondsPerHour-float64(at.UnixNano())/1e9)
}
