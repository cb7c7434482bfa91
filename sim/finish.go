package sim

import (
	"cmp"
	"fmt"

	"godwit/scheduler/place"
)

// finish books what is left at the end and reports.
func (w *world) finish() (*Report, error) {
	w.now = w.end
	w.settle()
	y, pending := &w.tally, 0.
	unfinished := uint64(0)
	y.count(w.now)
	for k := range w.tasks.slots {
		t := &w.tasks.slots[k]
		if t.status == taskFree || t.status == taskEnded || t.status == taskVoid {
			continue
		}
		if !t.second {
			y.sojourns.add(1, uint64(w.now-t.arrived))
		}
		pending += t.savedTime + t.extra
		if t.status == taskRunning {
			pending += w.hosts[t.host].timeClock - t.begunTime
		}
		if t.early || t.second {
			continue
		}
		unfinished++
	}
	if y.integral != y.sojourns {
		return nil, fmt.Errorf("sim: Little's law does not hold: %v task nanoseconds in the system, %v by the tasks' stays",
			y.integral, y.sojourns)
	}
	s := w.scenario
	r := &Report{
		Setup: Setup{Policy: cmp.Or(s.Placement, place.Default), Migration: cmp.Or(s.Migration, "none"), Predictor: w.model,
			Trace: s.Trace.Name, Synthetic: s.Trace.Synthetic, Depth: "policies", Paper: s.Paper,
			Hosts: len(w.hosts), Days: float64(w.end-min(w.end, y.boundary)) / float64(dayLength), Seed: s.Seed},
		Counts: Counts{Arrived: y.arrived - y.earlyTasks, Allocated: y.allocated, Succeeded: y.succeeded, Failed: y.failed,
			Returned: y.returned, Unfinished: unfinished, Impossible: y.impossible,
			SuccessPct:  percent(float64(y.succeeded), float64(y.succeeded+y.failed)),
			ProcessPct:  percent(float64(y.succeeded+y.failed), float64(y.allocated)),
			Utilisation: percent(y.usedAll, y.availableAll)},
		HostTime: HostTime{UsefulS: y.useful / 1e9, WastedS: y.wasted / 1e9, IdleS: (y.availableAll - y.usedAll) / 1e9,
			PendingS: pending / 1e9},
		Response: y.response.of(), Makespan: y.makespan.of(),
		Migrations: y.migrations, BytesMoved: y.moved, BytesFetched: y.fetched, Checkpoints: y.made, Copies: y.copies,
		PerDay: y.days, Events: y.events, Differences: w.differences(),
	}
	if s.Rates != nil {
		r.Classes = w.classes.reports()
	}
	if w.mover != nil && w.mover.Period() > 0 {
		w.judge.Settle(w.time())
		j := &w.judge
		r.Prediction = &Prediction{
			CP1: j.CP1, CP2: j.CP2, FA: j.FA, MD: j.MD, Exits: j.Exits, Missed: j.Missed(),
			Detection: percent(float64(j.CP1), float64(j.Exits)), Correct: percent(float64(j.CP1), float64(j.CP1+j.FA)),
		}
	}
	return r, nil
}

// percent is nil where it is not defined.
func percent(part, whole float64) *float64 {
	if !(whole > 0) {
		return nil
	}
	p := 100 * part / whole
	return &p
}
