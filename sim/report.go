package sim

import "time"

// A Report is what came of a run. Its JSON has no time that depends on the
// machine: equal scenarios give equal bytes.
type Report struct {
	Setup
	Counts
	HostTime

	Response Spread `json:"response_s"` // from arrival to completion
	Makespan Spread `json:"makespan_s"` // from first placement to completion

	Migrations  uint64 `json:"migrations"`
	BytesMoved  int64  `json:"bytes_moved"` // states and checkpoints
	Checkpoints uint64 `json:"checkpoints"`
	// BytesFetched are checkpoints that tasks went on from, which went to their new
	// hosts; Copies the second runs of tasks.
	BytesFetched int64  `json:"bytes_fetched,omitempty"`
	Copies       uint64 `json:"copies,omitempty"`

	// Prediction of exits by the migration policy; nil without one that predicts.
	Prediction *Prediction `json:"prediction,omitempty"`

	// Classes tells of each class where rates are imposed; else nil.
	Classes []ClassReport `json:"classes,omitempty"`

	PerDay      []Day    `json:"per_day,omitempty"`
	Events      uint64   `json:"events"`                // changes of hosts, starts and ends of tasks
	Differences []string `json:"differences,omitempty"` // from the live rules, a line each
}

// A Setup is what was run.
type Setup struct {
	Policy    string  `json:"policy"`
	Migration string  `json:"migration"`
	Fairness  string  `json:"fairness,omitempty"` // "" is the usual, and so is chunking
	Chunking  string  `json:"chunking,omitempty"`
	Predictor string  `json:"predictor"` // "" where nothing asked for forecasts
	Trace     string  `json:"trace"`
	Synthetic string  `json:"synthetic,omitempty"` // the generator, of a synthetic trace
	Depth     string  `json:"depth"`               // "policies" of Run, "machines" of sim/swarm
	Paper     bool    `json:"paper"`
	Hosts     int     `json:"hosts"`
	Days      float64 `json:"days"` // reported, warm-up left out
	Seed      uint64  `json:"seed"`
}

// Counts are Zhang's (docs/spec/zhang.md section 8.3): placements, tasks completed, and running
// tasks lost with their hosts. Process is (S+F)/A, Success S/(S+F), in
// percent; nil where not defined.
type Counts struct {
	Arrived   uint64 `json:"arrived"`
	Allocated uint64 `json:"allocated"`
	Succeeded uint64 `json:"succeeded"`
	Failed    uint64 `json:"failed"`
	// to the queue, though their hosts lived: after the owner's grace, or a move that came to nothing
	Returned    uint64   `json:"returned"`
	Unfinished  uint64   `json:"unfinished"` // in the system at the end
	Impossible  uint64   `json:"impossible"` // no host could ever run them
	SuccessPct  *float64 `json:"success_pct"`
	ProcessPct  *float64 `json:"process_pct"`
	Utilisation *float64 `json:"utilisation_pct"` // time that hosts spent on tasks by time that they were available
}

// HostTime is in seconds. Useful is work that ended in a result, Wasted what
// was lost or done twice, standstill for checkpoints included, Idle donated
// time without a task. Pending is in tasks not finished at the end. The four
// sum to the time available.
type HostTime struct {
	UsefulS  float64 `json:"useful_s"`
	WastedS  float64 `json:"wasted_s"`
	IdleS    float64 `json:"idle_s"`
	PendingS float64 `json:"pending_s"`
	// OracleUsefulS is UsefulS of the same scenario under the oracle; nil where
	// that was not run.
	OracleUsefulS *float64 `json:"oracle_useful_s"`
}

// A Spread describes times in seconds; zero without any.
type Spread struct {
	N    uint64  `json:"n"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// A Prediction scores predicted exits (docs/spec/zhang.md section 5).
type Prediction struct {
	CP1       int      `json:"cp1"` // predicted, and came
	CP2       int      `json:"cp2"` // not predicted, and stayed
	FA        int      `json:"fa"`  // predicted, and stayed
	MD        int      `json:"md"`  // not predicted, and left
	Exits     int      `json:"exits"`
	Missed    int      `json:"missed"`        // Exits - CP1, as the thesis counts
	Detection *float64 `json:"detection_pct"` // CP1 / Exits
	Correct   *float64 `json:"correct_pct"`   // CP1 / (CP1 + FA)
}

// A Day counts one day from Start, warm-up included: a placement belongs to the
// day that contains it, an end to the day that ends with it.
type Day struct {
	Allocated  uint64  `json:"allocated"`
	Succeeded  uint64  `json:"succeeded"`
	Failed     uint64  `json:"failed"`
	UsedS      float64 `json:"used_s"`
	AvailableS float64 `json:"available_s"`
}

// Day0 is when day 0 of PerDay begins.
func (s *Scenario) Day0() time.Time {
	if !s.Start.IsZero() || s.Trace == nil {
		return s.Start
	}
	return s.Trace.Start
}
