package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// A reader fills in an Experiment.
type reader struct {
	*source
	*Experiment
	start, end moment
	days       int
	log        string
	machines   machines
}

// A moment is a time, or one so long after the beginning.
type moment struct {
	at    time.Time
	after time.Duration
}

func (m moment) given() bool { return !m.at.IsZero() || m.after != 0 }

func (m moment) from(beginning time.Time) time.Time {
	if m.at.IsZero() {
		return beginning.Add(m.after)
	}
	return m.at
}

// mostDays bounds a run: ten years, as trace.Synthesize does.
const mostDays = 3660

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

// nearest turns the error of an unknown name into one that lists the names of
// the simulator, the one that was meant first.
func nearest(s string, err error, names []string) error {
	name, _, _ := strings.Cut(s, ":")
	if s == "" {
		return fmt.Errorf("a policy has no name: use one of %s", strings.Join(names, ", "))
	}
	if err == nil || slices.Contains(names, name) {
		return err
	}
	list := strings.Join(names, ", ")
	if near := task.Nearest(strings.ToLower(name), names); near != "" {
		return fmt.Errorf("there is no policy %s: did you mean %q? There are %s", yamlfile.Quote(name), near, list)
	}
	return fmt.Errorf("there is no policy %s: use one of %s", yamlfile.Quote(name), list)
}

// specs reads a policy or a list of them.
func (r *reader) specs(to *[]string, check func(string) error) func(string, ast.Node) *task.Error {
	return func(where string, node ast.Node) *task.Error {
		*to = nil
		return r.each(where, node, MaxSpecs, r.scalar(`quote policies with parameters: "fcfspp:n=6"`,
			func(text string) error {
				if slices.Contains(*to, text) {
					return fmt.Errorf("%s is there twice", yamlfile.Quote(text))
				}
				*to = append(*to, text)
				return check(text)
			}))
	}
}

func (r *reader) moment(to *moment) func(string, ast.Node) *task.Error {
	const hint = "write a date and time such as 2025-03-03T10:00:00Z, or a time after the trace's beginning such as 24h"
	return r.scalar(hint, func(text string) (err error) {
		if to.at, err = time.Parse(time.RFC3339, text); err == nil {
			return nil
		}
		to.at = time.Time{}
		if to.after, err = time.ParseDuration(text); err != nil || to.after < 0 {
			return fmt.Errorf("%s is no time", yamlfile.Quote(text))
		}
		return nil
	})
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

// load opens what the file names, and sets what depends on it.
func (r *reader) load(open func(string) (*trace.Trace, error), openLog func(string) (*trace.Workload, error),
	openText func(string) ([]byte, error)) *task.Error {
	w := &r.Base.Workload
	switch {
	case r.Source.File == "" && r.Source.Kind == "" && !r.machines.given && len(r.Owners.Sites) == 0:
		return r.errorAt(nil, "add a line such as `trace: sessions.csv` or `synth: {kind: deug}`", "the file names no hosts")
	case r.machines.given && (r.Source.File != "" || r.Source.Kind != ""):
		return r.at("machines", "leave out one of them", "machines are given beside a trace or a synthetic set")
	case r.Source.File != "" && r.Source.Kind != "":
		return r.at("synth", "leave out one of them", "both a trace and a synthetic set are given")
	case len(w.Classes) == 0 && r.log == "":
		return r.at("workload", "add `workload: {classes: [{work: 10m, arrival: every, interval: 1m}]}`, or a log",
			"the file names no workload")
	case r.end.given() && r.days != 0:
		return r.at("days", "leave out one of them", "both an end and days are given")
	}
	if r.log != "" {
		log, err := openLog(r.log)
		if err != nil {
			return r.wrap("workload.log", err)
		}
		w.Log = log
	}
	if e := r.loadSites(); e != nil {
		return e
	}
	if e := r.loadMachines(openText); e != nil {
		return e
	}
	if e := r.loadRates(openText); e != nil {
		return e
	}
	if len(r.Owners.Sites) > 0 {
		r.bound()
		return nil
	}
	if e := r.checkPublished(); e != nil {
		return e
	}
	if r.machines.given {
		if err := r.Synthesize(); err != nil {
			return r.wrap("machines", err)
		}
	} else if r.Source.Kind != "" {
		if err := r.Synthesize(); err != nil {
			return r.wrap("synth", err)
		}
	} else {
		t, err := open(r.Source.File)
		if err != nil {
			return r.wrap("trace", err)
		}
		r.Use(t)
	}
	r.bound()
	return nil
}

// bound sets the beginning and the end of the runs.
func (r *reader) bound() {
	b, beginning := &r.Base, r.Base.Trace.Start
	if r.start.given() {
		b.Start = r.start.from(beginning)
	}
	if r.end.given() {
		b.End = r.end.from(beginning)
	}
	if r.days != 0 {
		r.SetDays(r.days)
	}
}

// at returns an error at a key's place, or at that of the key around it.
func (e *Experiment) at(where, hint, format string, args ...any) *task.Error {
	err := &task.Error{File: e.file, Line: 1, Column: 1, Msg: fmt.Sprintf(format, args...), Hint: hint}
	for where != "" {
		if p, found := e.places[where]; found {
			err.Line, err.Column = p.Line, p.Column
			break
		}
		where = where[:max(0, strings.LastIndexAny(where, ".["))]
	}
	return err
}

// wrap tells what is wrong with what a key names at that key's place.
func (e *Experiment) wrap(where string, err error) *task.Error {
	hint := ""
	if inner := (*task.Error)(nil); errors.As(err, &inner) {
		hint = inner.Hint
	}
	return e.at(where, hint, "%v", err)
}

// blamed are the beginnings of what sim.Scenario.Validate says, and the keys
// that it is about, of which the first that the file has is to blame. What is
// not among them is wrong with values that Decode has already refused.
var blamed = []struct {
	says string
	keys []string
}{
	{"warmup", []string{"warmup"}},
	{"the run starts", []string{"start"}},
	{"the run ends", []string{"end", "days", "start"}},
	{"trace", []string{"trace", "synth"}},
	{"placement", []string{"placement"}},
	{"migration", []string{"migration"}},
	{"fairness", []string{"fairness"}},
	{"chunking", []string{"chunking"}},
	{"workload", []string{"workload"}},
	{"hosts", []string{"hosts"}},
	{"rates", []string{"rates"}},
	{"network", []string{"network"}},
	{"checkpoints", []string{"checkpoints"}},
}

// invalid tells everything that is wrong with a run in one line, at the place of
// the first.
func (e *Experiment) invalid(err error) error {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if e.file == "" {
		return errors.New(text)
	}
	for _, b := range blamed {
		if !strings.HasPrefix(text, b.says) {
			continue
		}
		for _, k := range b.keys {
			if _, found := e.places[k]; found {
				return e.at(k, "", "%s", text)
			}
		}
	}
	return e.at("", "", "%s", text)
}
