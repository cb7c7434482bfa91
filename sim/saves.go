package sim

// Checkpoints are no events: after each Every of work comes a pause, so that
// what a task has saved follows from what it was served. A checkpoint that would
// come at the end or later is not made.

// pause is how long a task stands still for a checkpoint, as service.
func (r *rules) pause(t *simTask) float64 {
	return float64(r.saves.Pause) * float64(max(t.state, bytesPerPause/64)) / bytesPerPause
}

// planned is how many checkpoints a run makes from from to its end.
func (r *rules) planned(t *simTask) int64 {
	if t.every <= 0 {
		return 0
	}
	return max(0, (t.work-t.from-1)/t.every)
}

// service is what a run takes from from to its end: work and pauses, in
// nanoseconds on the reference core.
func (r *rules) service(t *simTask) float64 {
	left := float64(t.work - t.from)
	if n := r.planned(t); n > 0 {
		left += float64(n) * r.pause(t)
	}
	return left
}

// checkpoints is how many a run has made after so much service, and how many of
// those outlive its host or at least wait for it there: those sent away have to
// arrive.
func (r *rules) checkpoints(t *simTask, served float64) (made, safe int64) {
	if t.every <= 0 {
		return 0, 0
	}
	cycle := float64(t.every) + r.pause(t)
	n := r.planned(t)
	made = min(n, int64((served+slack)/cycle))
	if !r.saves.Away {
		return made, made
	}
	return made, max(0, min(n, int64((served+slack-r.transfer(t.state))/cycle)))
}

// worked is how much of a run's service was work.
func (r *rules) worked(t *simTask, served float64) float64 {
	left := float64(t.work - t.from)
	if t.every <= 0 {
		return min(left, served)
	}
	every := float64(t.every)
	n := r.planned(t)
	made := min(n, int64((served+slack)/(every+r.pause(t))))
	rest := served - float64(made)*(every+r.pause(t))
	if made < n {
		rest = min(rest, every)
	}
	return min(left, float64(made)*every+max(0, rest))
}

// transfer is how long so many bytes take from one host to another, in
// nanoseconds.
func (r *rules) transfer(bytes int64) float64 {
	rate := r.network.Upload
	if down := r.network.Download; rate == 0 || down > 0 && down < rate {
		rate = down
	}
	d := float64(r.network.Delay)
	if rate > 0 {
		d += min(float64(longest), float64(bytes)/rate*1e9)
	}
	return d
}
