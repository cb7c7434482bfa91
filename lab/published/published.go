// Package published runs published experiments again, and prints published beside obtained.
package published

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"godwit/internal/failure"
	"godwit/internal/spec"
	"godwit/lab/plot"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/reproduce"
	"godwit/reproduce/koala"
	"godwit/reproduce/mgst"
	"godwit/reproduce/simpetek"
	"godwit/reproduce/trust"
	"godwit/reproduce/zhang"
	"godwit/trace"
)

// Options are those of `godwit reproduce`.
type Options struct {
	Traces     []string
	Only       []string
	Schedulers string
	Plot       string
	Workers    int
	Seed       uint64
	JSON       bool
}

// publications are those whose experiments can be run again.
var publications = []struct {
	name, text  string
	experiments func() []reproduce.Experiment
}{
	{"zhang", `J. Zhang, "Flexible Distributed Computing with Volunteered Resources", PhD thesis, 2010`,
		zhang.Experiments},
	{"mgst", `M. Kokaly, "McMaster Grid Scheduling Testing Environment", MASc thesis, 2008`, mgst.Experiments},
	{"simpetek", `G. Karaduman's MSc thesis on the scheduler of Sim-PETEK, 2010`, simpetek.Experiments},
	{"koala", `B. Grundeken, "Adding Cycle Scavenging Support to the Koala Grid Resource Manager", MSc thesis, 2009`,
		koala.Experiments},
	{"trust", "no publication: what audits are computed to do, beside what they do to simulated workers",
		trust.Experiments},
}

// experimentsOf returns the experiments of a publication, or of all; nil if there is
// none of that name.
func experimentsOf(name string) []reproduce.Experiment {
	var out []reproduce.Experiment
	for _, p := range publications {
		if name == p.name || name == "all" {
			out = append(out, p.experiments()...)
		}
	}
	return out
}

const sayReproduce = "say `godwit reproduce zhang`, mgst, simpetek, koala, trust, or all"

// Experiments lists the publications with their experiments, for help.
func Experiments() string {
	var b strings.Builder
	for _, p := range publications {
		fmt.Fprintf(&b, "%s: %s\n", p.name, p.text)
		for _, e := range p.experiments() {
			fmt.Fprintf(&b, "  %-8s %s (%s)\n", e.Name, e.Title, e.Where)
		}
	}
	return b.String()
}

// mostWorkers bounds what one program starts.
const mostWorkers = 1024

// selected checks the options and returns the experiments asked for.
func (f *Options) selected(what string) ([]reproduce.Experiment, error) {
	all := experimentsOf(what)
	switch {
	case what == "":
		return nil, failure.Usage(sayReproduce, "which publication's experiments?")
	case len(all) == 0:
		return nil, failure.Usage(sayReproduce,
			"there are no experiments of %q: there are those of zhang, mgst, simpetek, koala and trust", what)
	case f.Workers < 1 || f.Workers > mostWorkers:
		return nil, failure.Usage("leave it out for one a core", "--workers %d: there can be 1 to %d", f.Workers, mostWorkers)
	case len(f.Traces) > 0 && what != "zhang" && what != "all":
		return nil, failure.Usage("leave it out", "--trace is for zhang: the experiments of %s have no traces", what)
	case f.Schedulers != "" && (what != "simpetek" || len(f.Only) > 0):
		return nil, failure.Usage("say `godwit reproduce simpetek --schedulers LIST`",
			"--schedulers is for simpetek, in place of its experiments")
	case f.Schedulers != "":
		e, err := simpetek.Compare(spec.List(f.Schedulers))
		if err != nil {
			return nil, failure.Usage("`godwit reproduce --help` lists them", "--schedulers: %w", err)
		}
		return []reproduce.Experiment{e}, nil
	}
	es, err := reproduce.Select(all, f.Only)
	if err != nil {
		return nil, failure.Usage("`godwit reproduce --help` lists them", "--experiment: %w", err)
	}
	return es, nil
}

// options reads the original traces.
func (f *Options) options() (reproduce.Options, error) {
	o := reproduce.Options{Seed: f.Seed, Traces: map[string]*trace.Trace{}, Each: atOnce(f.Workers)}
	for _, s := range f.Traces {
		name, path, ok := strings.Cut(s, "=")
		name = strings.ToLower(name)
		if !ok || path == "" || !slices.Contains(reproduce.Sets, name) {
			return o, failure.Usage("write --trace ucb=FILE", "--trace %s names no set: they are %s", s,
				strings.Join(reproduce.Sets, ", "))
		}
		if o.Traces[name] != nil {
			return o, failure.Usage("put the parts into one directory", "--trace gives %s twice", name)
		}
		var from traces.Source
		t, err := from.Load(path)
		if err != nil {
			return o, err
		}
		o.Traces[name] = t
	}
	return o, nil
}

// atOnce calls a function for 0 to n-1, several at once, the next as soon as one
// is done.
func atOnce(workers int) func(int, func(int)) {
	return func(n int, run func(int)) {
		var (
			all  sync.WaitGroup
			next atomic.Int64
		)
		for range min(n, workers) {
			all.Go(func() {
				for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
					run(i)
				}
			})
		}
		all.Wait()
	}
}

// Run runs the experiments of a publication, or of all, and prints what came of them.
func (f *Options) Run(out, log io.Writer, what string) error {
	experiments, err := f.selected(what)
	if err != nil {
		return err
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	if f.Plot != "" {
		if err := plot.Able(); err != nil {
			return err
		}
		if err := os.MkdirAll(f.Plot, 0o777); err != nil {
			return failure.Usage("name a directory that can be written", "--plot: %w", err)
		}
	}
	var cells []reproduce.Cell
	for _, e := range experiments {
		fmt.Fprintf(log, "%s: %s\n", e.Name, e.Title)
		r, err := e.Run(options)
		if err != nil {
			return err
		}
		cells = append(cells, r.Cells...)
		if err := f.show(out, r); err != nil {
			return err
		}
		if err := f.draw(r.Figures); err != nil {
			return err
		}
	}
	if !f.JSON && len(cells) > 0 {
		printVerdicts(out, cells)
	}
	return unexplained(cells)
}

// unexplained fails when something differs and nothing says why.
func unexplained(cells []reproduce.Cell) error {
	n := 0
	first := ""
	for _, c := range cells {
		if c.Unexplained() {
			if n++; first == "" {
				first = c.Experiment + ", " + c.Cell
			}
		}
	}
	if n == 0 {
		return nil
	}
	return &failure.Error{Code: failure.ExitFailed,
		Err:  fmt.Errorf("%d figures differ and nothing explains it, the first: %s", n, first),
		Hint: "--json shows all figures with their notes"}
}

func (f *Options) show(out io.Writer, r *reproduce.Result) error {
	if !f.JSON {
		printResult(out, r)
		return nil
	}
	for _, c := range r.Cells {
		if err := table.JSON(out, c); err != nil {
			return err
		}
	}
	for _, t := range r.Tables {
		if err := table.JSON(out, t); err != nil {
			return err
		}
	}
	return nil
}

// draw writes each figure into the directory of --plot.
func (f *Options) draw(figures []reproduce.Figure) error {
	if f.Plot == "" {
		return nil
	}
	for _, g := range figures {
		c := plot.Chart{Title: g.Title, X: g.X, Y: g.Y, FromZero: true}
		for _, v := range g.Curves {
			as := plot.Line
			if g.Bars {
				as = plot.Bars
			}
			c.Curves = append(c.Curves, plot.Curve{Name: v.Name, As: as, X: v.X, Y: v.Y})
		}
		if err := plot.Save(filepath.Join(f.Plot, g.Name+".svg"), c); err != nil {
			return err
		}
	}
	return nil
}
