package reproduce

import "time"

// Sets are the desktop grids of Zhang 2010, chapter 6, by the names that
// Options.Traces and trace.Synthesize know.
var Sets = []string{"ucb", "sdsc", "lri", "deug"}

// Day is a day of every experiment: 24 hours, whatever hours of it a set was
// watched (docs/spec/zhang.md section 10, question 8).
const Day = 24 * time.Hour

// Epoch is when synthetic grids begin. Any midnight would do.
var Epoch = time.Unix(0, 0).UTC()

// FCFS is first come, first served as Zhang published it: it goes through the hosts
// in turn.
const FCFS = "fcfs:order=turn"
