package sim

import (
	"bytes"
	"encoding/json"
	"testing"
)

// The JSON of a report is read by other programs: its names and their order stay,
// however the type is made.
func TestReportJSON(t *testing.T) {
	pct, none := 12.5, (*float64)(nil)
	r := Report{}
	r.Policy, r.Migration, r.Predictor, r.Trace, r.Depth = "fcfs", "none", "blend", "week", "policies"
	r.Hosts, r.Days, r.Seed = 3, 1.5, 9
	r.Arrived, r.Allocated, r.Succeeded, r.Failed, r.Returned, r.Unfinished, r.Impossible = 1, 2, 3, 4, 5, 6, 7
	r.SuccessPct, r.ProcessPct, r.Utilisation = &pct, none, &pct
	r.UsefulS, r.WastedS, r.IdleS, r.PendingS = 1, 2, 3, 4
	r.Migrations, r.BytesMoved, r.Checkpoints, r.Events = 8, 9, 10, 11
	const usual = `{"policy":"fcfs","migration":"none","predictor":"blend","trace":"week","depth":"policies",` +
		`"paper":false,"hosts":3,"days":1.5,"seed":9,"arrived":1,"allocated":2,"succeeded":3,"failed":4,"returned":5,` +
		`"unfinished":6,"impossible":7,"success_pct":12.5,"process_pct":null,"utilisation_pct":12.5,"useful_s":1,` +
		`"wasted_s":2,"idle_s":3,"pending_s":4,"oracle_useful_s":null,` +
		`"response_s":{"n":0,"mean":0,"p50":0,"p95":0,"p99":0,"max":0},` +
		`"makespan_s":{"n":0,"mean":0,"p50":0,"p95":0,"p99":0,"max":0},"migrations":8,"bytes_moved":9,` +
		`"checkpoints":10,"events":11}`
	sameJSON(t, r, usual)

	r.Fairness, r.Chunking, r.Synthetic, r.Paper, r.OracleUsefulS = "sep", "paced", "deug", true, &pct
	r.Prediction, r.Classes = &Prediction{}, []ClassReport{{}}
	r.PerDay, r.Differences = []Day{{}}, []string{"none"}
	const full = `{"policy":"fcfs","migration":"none","fairness":"sep","chunking":"paced","predictor":"blend",` +
		`"trace":"week","synthetic":"deug","depth":"policies","paper":true,"hosts":3,"days":1.5,"seed":9,"arrived":1,` +
		`"allocated":2,"succeeded":3,"failed":4,"returned":5,"unfinished":6,"impossible":7,"success_pct":12.5,` +
		`"process_pct":null,"utilisation_pct":12.5,"useful_s":1,"wasted_s":2,"idle_s":3,"pending_s":4,` +
		`"oracle_useful_s":12.5,"response_s":{"n":0,"mean":0,"p50":0,"p95":0,"p99":0,"max":0},` +
		`"makespan_s":{"n":0,"mean":0,"p50":0,"p95":0,"p99":0,"max":0},"migrations":8,"bytes_moved":9,` +
		`"checkpoints":10,"prediction":{"cp1":0,"cp2":0,"fa":0,"md":0,"exits":0,"missed":0,"detection_pct":null,` +
		`"correct_pct":null},"classes":[{"class":"","arrived":0,"succeeded":0,"waiting_s":0,"communication_s":0,` +
		`"execution_s":0,"response_s":0}],"per_day":[{"allocated":0,"succeeded":0,"failed":0,"used_s":0,` +
		`"available_s":0}],"events":11,"differences":["none"]}`
	sameJSON(t, r, full)
}

// sameJSON compares a report's JSON with text, and what is read back from it.
func sameJSON(t *testing.T, r Report, want string) {
	t.Helper()
	got, err := json.Marshal(r)
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	var back Report
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || !bytes.Equal(again, got) {
		t.Errorf("read and written again: %s, %v", again, err)
	}
}
