package scenario

import (
	"slices"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
	"godwit/migrate"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// Decode reads a scenario file. The name is for errors, which are *task.Error
// and carry line and column. open, openLog and openText read the trace, the log and
// the other files that it names, as they stand in it; what they say is told at that
// place. They read no more than MaxFile and a byte of the others. Nothing is opened before the rest of the file
// is known to be right.
func Decode(name string, text []byte, open func(file string) (*trace.Trace, error),
	openLog func(file string) (*trace.Workload, error),
	openText func(file string) ([]byte, error)) (*Experiment, error) {
	r := &reader{source: &source{name: name, places: map[string]yamlfile.Position{}}, Experiment: Default()}
	r.Experiment.places, r.file = r.source.places, name
	node, e := format.Parse(name, text)
	if e != nil {
		return nil, e
	}
	if e := r.top(node); e != nil {
		return nil, e
	}
	if e := r.load(open, openLog, openText); e != nil {
		return nil, e
	}
	return r.Experiment, nil
}

func (r *reader) top(node ast.Node) *task.Error {
	b := &r.Base
	return r.mapping("", node, []field{
		{"trace", r.readTrace},
		{"synth", r.readSynth},
		{"machines", r.readMachines},
		{"assume", r.readAssume},
		{"start", r.moment(&r.start)},
		{"end", r.moment(&r.end)},
		{"days", r.count(&r.days, 1, mostDays)},
		{"warmup", r.duration(&b.Warmup, 0)},
		{"past", r.scalar("write days, such as 10d", func(text string) (err error) {
			r.Past, err = ParsePast(text)
			return err
		})},
		{"placement", r.specs(&r.Placements, CheckPlacement)},
		{"migration", r.specs(&r.Migrations, CheckMigration)},
		{"fairness", r.specs(&r.Fairnesses, CheckFairness)},
		{"chunking", r.specs(&r.Chunkings, CheckChunking)},
		{"predictor", r.scalar("`godwit score --help` says what each does", func(text string) error {
			b.Predictor = text
			return CheckPredictor(text)
		})},
		{"workload", r.readWorkload},
		{"hosts", r.readHosts},
		{"network", r.nested(
			field{"delay", r.duration(&b.Network.Delay, 0)},
			field{"upload", r.rate(&b.Network.Upload)},
			field{"download", r.rate(&b.Network.Download)},
			field{"detect", r.duration(&b.Network.Detect, 0)},
		)},
		{"checkpoints", r.nested(
			field{"every", r.every(&b.Checkpoints)},
			field{"pause", r.duration(&b.Checkpoints.Pause, 0)},
			field{"away", r.boolean(&b.Checkpoints.Away)},
		)},
		{"rates", r.readRates},
		{"sites", r.readSites},
		{"users", r.readUsers},
		{"loads", r.readLoads},
		{"coordinators", r.count(&r.Coordinators, 1, maxCoordinators)},
		{"speedup", r.number(&r.Speedup, 1, maxSpeedup)},
		{"published", r.readPublished},
		{"paper", r.boolean(&b.Paper)},
		{"scan_all", r.boolean(&b.ScanAll)},
		{"seeds", r.readSeeds},
	})
}

// CheckPlacement says what is wrong with a placement policy of a run.
func CheckPlacement(s string) error {
	if s == sim.Oracle {
		return nil
	}
	_, err := place.Parse(s)
	return nearest(s, err, append(place.Names(), sim.Oracle))
}

// CheckMigration says what is wrong with a migration policy of a run.
func CheckMigration(s string) error {
	_, err := migrate.Parse(s)
	return nearest(s, err, migrate.Names())
}

// CheckFairness says what is wrong with a policy of shares of a run.
func CheckFairness(s string) error {
	_, err := share.Parse(s)
	return nearest(s, err, share.Names())
}

// CheckChunking says what is wrong with a policy of chunks of a run.
func CheckChunking(s string) error { return nearest(s, chunk.Check(s), chunk.Names()) }

// CheckPredictor says what is wrong with a model of forecasts.
func CheckPredictor(s string) error {
	_, err := predictor.Parse(s)
	return err
}

// readSeeds reads how many runs there are, with seeds 1, 2 and so on, or the
// seeds.
func (r *reader) readSeeds(where string, node ast.Node) *task.Error {
	r.Seeds = nil
	if _, list := node.(*ast.SequenceNode); !list {
		n := 0
		e := r.count(&n, 1, MaxSeeds)(where, node)
		for i := range n {
			r.Seeds = append(r.Seeds, uint64(i+1))
		}
		return e
	}
	return r.each(where, node, MaxSeeds, func(where string, node ast.Node) *task.Error {
		var seed uint64
		if e := r.seed(&seed)(where, node); e != nil {
			return e
		}
		if slices.Contains(r.Seeds, seed) {
			return r.errorAt(yamlfile.First(node), "keep one of the two: equal seeds give equal runs",
				"%s: %d is there twice", where, seed)
		}
		r.Seeds = append(r.Seeds, seed)
		return nil
	})
}
