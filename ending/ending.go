package ending

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"godwit/predictor"
	"godwit/scheduler/place"
)

// Options bound the work.
type Options struct {
	Draws int // 0 is DefaultDraws; 1 to MaxDraws
	Seed  uint64
}

const (
	// DefaultDraws is how many times the job is run ahead: with 60 the 5th percentile lies
	// between the third and the fourth least.
	DefaultDraws = 60
	// MaxDraws bounds them.
	MaxDraws = 1000
)

// A Forecast is when a job ends, in seconds from now.
type Forecast struct {
	// Median, and the 5th and the 95th percentile: nine ends in ten lie between. Beyond
	// MaxAhead they are MaxAhead.
	Median float64 `json:"median_s"`
	Low    float64 `json:"low_s"`
	High   float64 `json:"high_s"`
	// Reason says why there is no forecast; "" where there is one. The others are 0 then.
	Reason string `json:"reason,omitempty"`
	// Notes say what the forecast rests on and where it is weak, a sentence each.
	Notes []string `json:"notes,omitempty"`
	// Unknown says that nobody knows how long tasks that are left take: neither did one end, nor did the owner say. The
	// times then are those of tasks at large.
	Unknown bool `json:"unknown,omitempty"`
	// Draws is how many times the job was run ahead, Late in how many of those it had not
	// ended after MaxAhead.
	Draws int `json:"draws"`
	Late  int `json:"late"`
	// Work is the mean work of a task that was drawn, in seconds on the reference core.
	Work float64 `json:"work_s"`
}

// Ahead forecasts when a job ends, from now. Equal arguments give equal forecasts. The
// error is of arguments that make no sense.
func Ahead(now time.Time, job *Job, swarm *Swarm, o Options) (Forecast, error) {
	if o.Draws == 0 {
		o.Draws = DefaultDraws
	}
	if err := check(job, swarm, o); err != nil {
		return Forecast{}, fmt.Errorf("forecasting a job's end: %w", err)
	}
	f := Forecast{Draws: o.Draws}
	if job.left() == 0 {
		return f, nil
	}
	if f.Reason = nobody(job, swarm); f.Reason != "" {
		return Forecast{Reason: f.Reason}, nil
	}
	parts := job.parts()
	jobs := make([]*known, 0, len(parts)+len(swarm.Others))
	for _, part := range parts {
		jobs = append(jobs, know(part, swarm))
	}
	for i := range swarm.Others {
		jobs = append(jobs, know(&swarm.Others[i], swarm))
	}
	c := newCrowd(now, swarm, float64(job.left()))
	ends := make([]float64, o.Draws)
	sum := 0.0
	var room storage
	for i := range ends {
		w, err := newWorld(c, job, jobs, swarm, o.Seed, i, &room)
		if err != nil {
			return Forecast{}, fmt.Errorf("forecasting a job's end: %w", err)
		}
		ends[i] = w.run()
		sum += w.meanWork()
		room = w.storage
		if ends[i] >= MaxAhead.Seconds() {
			f.Late++
		}
	}
	slices.Sort(ends)
	f.Low, f.Median, f.High = quantile(ends, lowQuantile), quantile(ends, 0.5), quantile(ends, 1-lowQuantile)
	f.Work = sum / float64(o.Draws)
	f.Notes = notes(jobs[:len(parts)], c, len(swarm.Members), &f)
	return f, nil
}

// lowQuantile and its counterpart have nine in ten between them.
const lowQuantile = 0.05

// quantile is that of sorted numbers, straight between them (Hyndman and Fan 1996, definition
// 6): between two of them lies in the mean the share that is asked for, however few they are.
func quantile(sorted []float64, q float64) float64 {
	n := len(sorted)
	at := min(max(q*float64(n+1)-1, 0), float64(n-1))
	k := min(int(at), n-1)
	if k+1 >= n {
		return sorted[n-1]
	}
	return sorted[k] + (at-float64(k))*(sorted[k+1]-sorted[k])
}

func check(job *Job, swarm *Swarm, o Options) error {
	if o.Draws < 1 || o.Draws > MaxDraws {
		return fmt.Errorf("%d draws: there can be 1 to %d", o.Draws, MaxDraws)
	}
	jobs := append([]Job{*job}, swarm.Others...)
	for i := range jobs {
		j := &jobs[i]
		if j.left() > MaxTasks || j.Declared < 0 || j.Save < 0 || j.Memory < 0 {
			return fmt.Errorf("job %q: %d runs, work %v, saved every %v, memory %d: none may be negative or above %d runs",
				j.ID, j.left(), j.Declared, j.Save, j.Memory, uint64(MaxTasks))
		}
		if err := j.checkStages(); err != nil {
			return err
		}
		for _, part := range j.parts() {
			if slices.ContainsFunc(part.Running, func(a Attempt) bool { return a.Work < 0 }) ||
				slices.ContainsFunc(part.Ended, func(d time.Duration) bool { return d < 0 }) ||
				part.Declared < 0 || part.Memory < 0 {
				return fmt.Errorf("job %q: work or memory of a task is negative", j.ID)
			}
		}
	}
	for i := range swarm.Members {
		m := &swarm.Members[i]
		if m.Slots < 0 || m.Memory < 0 || !(m.Speed >= 0) || math.IsInf(m.Speed, 1) || !m.State.Valid() {
			return fmt.Errorf("member %s: %d slots, memory %d, speed %v, state %d", m.Peer, m.Slots, m.Memory, m.Speed, m.State)
		}
	}
	if swarm.Detect < 0 || swarm.Grace < 0 {
		return errors.New("times until a member is missed, and until its tasks go on elsewhere, must not be negative")
	}
	_, err := place.ParseWith(predictor.Default, swarm.Placement)
	return err
}

// nobody says why no member can ever run the job; "" if one can.
func nobody(job *Job, swarm *Swarm) string {
	if len(swarm.Members) == 0 {
		return "no member is known"
	}
	lends, most := 0, int64(0)
	for i := range swarm.Members {
		if m := &swarm.Members[i]; m.Slots > 0 {
			lends++
			most = max(most, m.Memory)
		}
	}
	switch {
	case lends == 0:
		return "no member lends a slot"
	}
	for _, part := range job.parts() {
		if part.left() > 0 && most < part.Memory {
			return fmt.Sprintf("a task may need %d bytes of memory, and no member lends more than %d", part.Memory, most)
		}
	}
	return ""
}

// notes say what a forecast rests on. They note in it whether anybody knows what tasks take.
func notes(parts []*known, c *crowd, known int, f *Forecast) (out []string) {
	declared, ended := false, 0
	for _, k := range parts {
		left := k.job.left() > 0
		f.Unknown = f.Unknown || left && k.guessed
		declared = declared || left && len(k.ended) < fewEnded && k.job.Declared > 0
		ended += len(k.ended)
	}
	switch {
	case f.Unknown && len(parts) > 1 && ended > 0:
		out = append(out, "nobody knows how long a task of some stages takes: from minutes to days is thought possible; "+
			"write work into them, or ask when some of each have ended")
	case f.Unknown:
		out = append(out, "nobody knows how long a task takes: from minutes to days is thought possible; "+
			"write work into the job file, or ask when some have ended")
	case declared && ended >= fewEnded:
		out = append(out, fmt.Sprintf("how long a task takes is measured of %d that ended, and of the rest what the job "+
			"file says", ended))
	case declared:
		out = append(out, "how long a task takes is what the job file says")
	default:
		out = append(out, fmt.Sprintf("how long a task takes is measured of %d that ended", ended))
	}
	out = append(out, fmt.Sprintf("of %d that are known %d have a history of a day or more", known, c.told))
	if f.Late > 0 {
		out = append(out, fmt.Sprintf("in %d of %d draws it had not ended after %d days", f.Late, f.Draws,
			int(MaxAhead.Hours()/hoursPerDay)))
	}
	return out
}
