package policies_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	_ "godwit/examples/policies"
	"godwit/migrate"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
	"godwit/sim/scenario"
	"godwit/sim/swarm"
)

// What a package registers is known by name, with its parameters, and told of in the
// help.
func TestRegistered(t *testing.T) {
	ofJob := func(s string) (any, error) { return chunk.Parse(s, chunk.Job{Runs: 10}) }
	for _, c := range []struct {
		good, bad, help string
		parse           func(string) (any, error)
	}{
		{"roomiest:spare=10", "roomiest:spare=100", place.Describe(), func(s string) (any, error) { return place.Parse(s) }},
		{"modest", "modest:by=2", share.Describe(), func(s string) (any, error) { return share.Parse(s) }},
		{"doubling:most=8", "doubling:most=0", chunk.Describe(), ofJob},
		{"closing:hour=9,before=1h", "closing:hour=24", migrate.Describe(),
			func(s string) (any, error) { return migrate.Parse(s) }},
		{"halflife:of=2h", "halflife:of=soon", predictor.Describe(),
			func(s string) (any, error) { return predictor.Parse(s) }},
		{"twofold:ratio=4", "twofold:ratio=0", sim.DescribeLaws(), func(s string) (any, error) { return sim.Law(s).Draw() }},
	} {
		if _, err := c.parse(c.good); err != nil {
			t.Errorf("%s: %v", c.good, err)
		}
		if _, err := c.parse(c.bad); err == nil {
			t.Errorf("%s is taken", c.bad)
		}
		name, _, _ := strings.Cut(c.good, ":")
		if !strings.Contains("\n"+c.help, "\n"+name) {
			t.Errorf("the help does not tell of %s", name)
		}
	}
}

const experiment = `
machines: {count: 6, days: 1}
end: 4h
placement: "roomiest:spare=10"
migration: "closing:hour=1,before=20m"
fairness: modest
chunking: "doubling:most=4"
hosts: {slots: 2, memory: 4GiB}
workload:
  classes:
    - {name: sweep, arrival: times, times: [10m], tasks: 24, work: 15m, memory: 256MiB, state: 1MiB,
       law: "twofold:ratio=4"}
    - {name: single, arrival: renewal, gaps: twofold, interval: 15m, to: 2h, work: 10m, memory: 256MiB, state: 1MiB}
`

func grid(t *testing.T, text string) *sim.Scenario {
	t.Helper()
	e, err := scenario.Decode("own.yaml", []byte(text), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Grid()
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// sized counts the chunks that coordinators asked the policy for.
var sized int

type counted struct{ chunk.Policy }

func (c counted) Size(now time.Time, n chunk.Node, ask chunk.Ask) (int, chunk.Reason) {
	sized++
	return c.Policy.Size(now, n, ask)
}

func init() {
	chunk.Register("counted", chunk.Kind{Does: "doubling that tells how often it was asked",
		Make: func(_ *chunk.Params, j chunk.Job) chunk.Policy {
			p, err := chunk.Parse("doubling:most=4", j)
			if err != nil {
				panic(err)
			}
			return counted{p}
		}})
}

// The coordinators of whole nodes, which are those of live ones, obey all four
// policies; every task ends.
func TestCoordinatorsObey(t *testing.T) {
	said := map[string]int{}
	sized = 0
	text := strings.Replace(experiment, "doubling:most=4", "counted", 1)
	r, err := swarm.Run(grid(t, text), swarm.Options{Submitters: 1, Watch: func(d swarm.Decision) { said[d.Reason]++ }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Arrived < 25 || r.Succeeded != r.Arrived || r.Migrations == 0 {
		t.Errorf("of %d tasks %d ended, with %d moves", r.Arrived, r.Succeeded, r.Migrations)
	}
	if sized == 0 {
		t.Error("nobody asked the policy of chunks")
	}
	for _, why := range []string{"it has the most memory left", "the room is being closed",
		"who wants least has it first"} {
		found := 0
		for reason, n := range said {
			if strings.Contains(reason, why) {
				found += n
			}
		}
		if found == 0 {
			t.Errorf("nothing was decided because %s", why)
		}
	}
}

// The simulator obeys placement, migration, predictor and laws.
func TestSimulatorObeys(t *testing.T) {
	text := strings.NewReplacer("fairness: modest\n", "", "chunking: \"doubling:most=4\"\n",
		"predictor: \"halflife:of=2h\"\n", "\"roomiest:spare=10\"", "expected").Replace(experiment)
	r, err := sim.Run(grid(t, text))
	if err != nil {
		t.Fatal(err)
	}
	if r.Predictor != "halflife:of=2h" || r.Succeeded != r.Arrived || r.Migrations == 0 ||
		r.Response.Max < 2*r.Response.P50 {
		t.Errorf("by %s: of %d tasks %d ended, with %d moves, in %+v", r.Predictor, r.Arrived, r.Succeeded, r.Migrations,
			r.Response)
	}
}

// The manual shows this file.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("policies.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(manual, append(append([]byte("```go\n"), file...), "```\n"...)) {
		t.Error("docs/policies.md shows another file than examples/policies/policies.go: copy it there")
	}
	if bytes.Contains(file, []byte("godwit/internal/")) {
		t.Error("the file imports what a package outside the module cannot")
	}
}
