package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/internal/spec"
	"godwit/lab/plot"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/reproduce"
	"godwit/scheduler/chunk"
	"godwit/trace"
)

// reproduceFlags are those of `godwit reproduce`.
type reproduceFlags struct {
	traces      []string
	experiments []string
	schedulers  string
	plot        string
	workers     int
	seed        uint64
	json        bool
}

// publications are those whose experiments can be run again.
var publications = []struct {
	name, text  string
	experiments func() []reproduce.Experiment
}{
	{"zhang", `J. Zhang, "Flexible Distributed Computing with Volunteered Resources", PhD thesis, 2010`, reproduce.Zhang},
	{"mgst", `M. Kokaly, "McMaster Grid Scheduling Testing Environment", MASc thesis, 2008`, reproduce.MGST},
	{"simpetek", `G. Karaduman's MSc thesis on the scheduler of Sim-PETEK, 2010`, reproduce.SimPETEK},
	{"koala", `B. Grundeken, "Adding Cycle Scavenging Support to the Koala Grid Resource Manager", MSc thesis, 2009`, reproduce.Koala},
}

// published returns the experiments of a publication, or of all; nil if there is
// none of that name.
func published(name string) []reproduce.Experiment {
	var out []reproduce.Experiment
	for _, p := range publications {
		if name == p.name || name == "all" {
			out = append(out, p.experiments()...)
		}
	}
	return out
}

const sayReproduce = "say `godwit reproduce zhang`, mgst, simpetek, koala, or all"

func newReproduce() *cobra.Command {
	var f reproduceFlags
	cmd := &cobra.Command{
		Use:   "reproduce zhang | mgst | simpetek | koala | policies | all",
		Short: "Run published experiments again: published beside obtained, with a verdict on each figure",
		Long: `Run published experiments again and print what was published, what is obtained and
a verdict on each figure. The publications are listed below, with their experiments;
all is all there are. reproduce policies compares the default policies with
published ones.

Verdicts:
  equal          the same, to the digits printed
  within         numbers that differ by less than the note says
  direction      the trend or order that is published holds; the number is not judged
  differs        it does not hold; the note says why
  unrecoverable  it cannot be run again; the note says why

The traces of zhang are lost. Hosts like them, made from a seed, stand for them, and
of those only directions are judged. Whoever has an original trace gives it with
--trace. Of koala the costs of the testbed are fitted to one table; what is assumed
besides is said with each experiment.

With --schedulers, simpetek runs its comparison mode in place of its experiments: each
request is executed once by every scheduler of the list.

Exit code 0 unless an experiment does not run or something differs and nothing
explains it.

Experiments:
` + experimentTable() + `
Schedulers, with their parameters:
` + indented(chunk.Describe()),
		Example: `  godwit reproduce zhang
  godwit reproduce zhang --experiment B.II,E1 --plot figures
  godwit reproduce koala --experiment K4
  godwit reproduce simpetek
  godwit reproduce simpetek --schedulers amra:rounds=2,amra:rounds=3,issse:peak=2,k=15,m=10.5,calibrated
  godwit reproduce zhang --trace ucb=archive/ucb --experiment E1,E8`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.traces, "trace", nil, "SET=FILE, an original trace for one of "+strings.Join(reproduce.Sets, ", ")+" (repeatable); a file or directory that `godwit trace info` reads")
	fl.StringSliceVar(&f.experiments, "experiment", nil, "only these, with commas between them")
	fl.StringVar(&f.schedulers, "schedulers", "", "compare these, of simpetek, with commas between them")
	fl.StringVar(&f.plot, "plot", "", "draw figures like the published ones into this directory, as SVG")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "how many runs go on at once; what comes out does not depend on it")
	fl.Uint64Var(&f.seed, "seed", 1, "first seed of everything random")
	fl.BoolVar(&f.json, "json", false, "print JSON, one object per figure")
	cmd.AddCommand(newReproducePolicies())
	return cmd
}

func experimentTable() string {
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

// selected checks the arguments and returns the experiments asked for.
func (f *reproduceFlags) selected(args []string) ([]reproduce.Experiment, error) {
	what := strings.Join(args, "")
	all := published(what)
	switch {
	case what == "":
		return nil, failure.Usage(sayReproduce, "which publication's experiments?")
	case len(all) == 0:
		return nil, failure.Usage(sayReproduce, "there are no experiments of %q: there are those of zhang, mgst, simpetek and koala", what)
	case f.workers < 1 || f.workers > mostWorkers:
		return nil, failure.Usage("leave it out for one a core", "--workers %d: there can be 1 to %d", f.workers, mostWorkers)
	case len(f.traces) > 0 && what != "zhang" && what != "all":
		return nil, failure.Usage("leave it out", "--trace is for zhang: the experiments of %s have no traces", what)
	case f.schedulers != "" && (what != "simpetek" || len(f.experiments) > 0):
		return nil, failure.Usage("say `godwit reproduce simpetek --schedulers LIST`", "--schedulers is for simpetek, in place of its experiments")
	case f.schedulers != "":
		e, err := reproduce.CompareSchedulers(spec.List(f.schedulers))
		if err != nil {
			return nil, failure.Usage("`godwit reproduce --help` lists them", "--schedulers: %w", err)
		}
		return []reproduce.Experiment{e}, nil
	}
	es, err := reproduce.Select(all, f.experiments)
	if err != nil {
		return nil, failure.Usage("`godwit reproduce --help` lists them", "--experiment: %w", err)
	}
	return es, nil
}

// options reads the original traces.
func (f *reproduceFlags) options() (reproduce.Options, error) {
	o := reproduce.Options{Seed: f.seed, Traces: map[string]*trace.Trace{}, Each: atOnce(f.workers)}
	for _, s := range f.traces {
		name, path, ok := strings.Cut(s, "=")
		name = strings.ToLower(name)
		if !ok || path == "" || !slices.Contains(reproduce.Sets, name) {
			return o, failure.Usage("write --trace ucb=FILE", "--trace %s names no set: they are %s", s, strings.Join(reproduce.Sets, ", "))
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

func (f *reproduceFlags) run(cmd *cobra.Command, args []string) error {
	experiments, err := f.selected(args)
	if err != nil {
		return err
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	if f.plot != "" {
		if err := os.MkdirAll(f.plot, 0o777); err != nil {
			return failure.Usage("name a directory that can be written", "--plot: %w", err)
		}
	}
	out := cmd.OutOrStdout()
	var cells []reproduce.Cell
	for _, e := range experiments {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", e.Name, e.Title)
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
	if !f.json && len(cells) > 0 {
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
	return &failure.Error{Code: failure.ExitFailed, Err: fmt.Errorf("%d figures differ and nothing explains it, the first: %s", n, first),
		Hint: "--json shows all figures with their notes"}
}

func (f *reproduceFlags) show(out io.Writer, r *reproduce.Result) error {
	if !f.json {
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
func (f *reproduceFlags) draw(figures []reproduce.Figure) error {
	if f.plot == "" {
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
		if err := plot.Save(filepath.Join(f.plot, g.Name+".svg"), c); err != nil {
			return err
		}
	}
	return nil
}
