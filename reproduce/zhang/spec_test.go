package zhang

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/spectable"
)

// specified are the tables of a section of docs/spec/zhang.md, without their heads.
func specified(t *testing.T, section string) [][][]string {
	t.Helper()
	tables := spectable.Read(t, "../..", "zhang.md", section)
	for i := range tables {
		tables[i] = tables[i][1:]
	}
	return tables
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.Trim(s, " %;,"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestChapter6: what the acceptance of hosts is beside is Tables 6-1 to 6-4 and 6-7.
func TestChapter6(t *testing.T) {
	sets := specified(t, "7.1 Sets")[0]
	figures := specified(t, "7.3 Figures")
	row := func(table [][]string, head string) []string {
		for _, r := range table {
			if r[0] == head {
				return r
			}
		}
		t.Fatalf("there is no row %q", head)
		return nil
	}
	up, down := row(sets, "mean availability interval, h"), row(sets, "mean unavailability interval, h")
	variance, events := row(sets, "variance of the number available"), row(sets, "UEs; per resource and day")
	hours := figures[3]
	first := slices.IndexFunc(hours, func(r []string) bool { return r[0] == "hour available" })
	for i, c := range chapter6Sets {
		name := strings.ToUpper(c.name)
		_, perDay, _ := strings.Cut(events[1+i], ";")
		again := hours[first+i]
		if c.up != number(t, up[1+i]) || c.down != number(t, down[1+i]) || c.variance != number(t, variance[1+i]) ||
			c.events != number(t, perDay) || again[1] != name || c.upAgain != number(t, again[3]) {
			t.Errorf("%s: %+v; specified are %v, %v, %v, %v, %v", name, c, up, down, variance, events, again)
		}
		// "least, greatest, mean; low medium high %" of days and of hours
		rho := row(figures[1], name)
		daily, parts, _ := strings.Cut(rho[1], ";")
		hourly, _, _ := strings.Cut(rho[2], ";")
		low, high := strings.Fields(parts)[0], strings.Fields(parts)[2]
		if c.pmcc != number(t, strings.Split(daily, ",")[2]) || c.pmccHour != number(t, strings.Split(hourly, ",")[2]) ||
			c.low != number(t, low) || c.high != number(t, high) {
			t.Errorf("%s: %+v; specified are %v", name, c, rho)
		}
		series := strings.Split(row(figures[0], name)[1], ",")
		if float64(c.daily) != number(t, series[2]) || float64(c.dayPairs) != number(t, series[3]) {
			t.Errorf("%s: %d series, %d pairs; specified are %v", name, c.daily, c.dayPairs, series)
		}
	}
}

// TestCounts: the counts of Table 6-1 and of the series agree with one another: a series
// is constant or used, and events by resource and day are all by the days.
func TestCounts(t *testing.T) {
	resources, days := []float64{80, 244, 275, 680}, []float64{10, 7, 7, 7}
	for i, row := range specified(t, "7.3 Figures")[0] {
		for k, column := range row[1:] {
			f := strings.Split(column, ",")
			all, constant, used := number(t, f[0]), number(t, f[1]), number(t, f[2])
			if all != constant+used {
				t.Errorf("%s: %v series, %v constant and %v used", row[0], all, constant, used)
			}
			if k == 0 && all != resources[i]*days[i] {
				t.Errorf("%s: %v series of %v resources and %v days", row[0], all, resources[i], days[i])
			}
		}
	}
	for i, s := range strings.Split("6076; 7.595|2370; 1.388|390; 0.203|10764; 2.261", "|") {
		all, perDay, _ := strings.Cut(s, ";")
		if got := number(t, all) / resources[i] / days[i]; math.Abs(got-number(t, perDay)) > 5e-4 {
			t.Errorf("%s events are %.4f a resource and day", s, got)
		}
	}
}

// TestSyntheticTables: scenarios and outcomes of Tables B-2 to B-5 are those specified.
func TestSyntheticTables(t *testing.T) {
	for i, row := range specified(t, "11.2")[0] {
		c := differences[i]
		if c.t1 != number(t, row[0]) || c.t1-12 != number(t, row[1]) || math.Abs(number(t, c.rho)-number(t, row[2])) > 1e-9 ||
			row[3] != "3/2/1" || c.fcfspp != row[4] || tallySuccess(c.fcfspp) != c.pct {
			t.Errorf("%+v, specified is %v", c, row)
		}
		m1, m2 := c.t1/24, 0.5
		rho := (min(m1, m2) - m1*m2) / math.Sqrt(m1*(1-m1)*m2*(1-m2))
		if math.Abs(rho-number(t, c.rho)) > 5e-4 {
			t.Errorf("t1 = %v: rho is %.4f by its formula, printed %s", c.t1, rho, c.rho)
		}
	}
	for i, row := range specified(t, "11.3")[0] {
		c := flpCases[i]
		if fmt.Sprintf("%g, %g", c.t1, c.t2) != row[0] || c.fcfs != row[1] || c.fcfspp != row[2] || c.flp != row[3] ||
			row[5] != flpThreshold {
			t.Errorf("%+v, specified is %v", c, row)
		}
		part, whole, _ := strings.Cut(row[4], "/")
		if got := fmt.Sprintf("%.1f %%", 100*number(t, part)/number(t, whole)); got != c.rap {
			t.Errorf("RAP at 36 h is %s, specified is %s", c.rap, row[4])
		}
	}
	for i, row := range specified(t, "11.1")[0] {
		at := fmt.Sprintf("scenario %d, ", i+1)
		for cell, want := range map[string]string{
			at + "FCFS, day 1, A/S/F": row[3], at + "FCFSPP, day 1, A/S/F": row[3],
			at + "FCFS, day 2, A/S/F": row[4], at + "FCFSPP, day 2, A/S/F": row[5],
		} {
			if got := publishedOf("B.I-1", cell); got != want {
				t.Errorf("%s: %q, specified is %q", cell, got, want)
			}
		}
	}
	codes := map[string]string{"CP1": "1/0/0/0", "CP2": "0/1/0/0", "MD": "0/0/1/0", "FA": "0/0/0/1"}
	for i, row := range specified(t, "11.4")[0] {
		f := figureNamed("B.III", fmt.Sprintf("scenario %d, CP1/CP2/MD/FA", i+1))
		if f.published != codes[row[2]] || (f.defined != "" && f.defined != codes[row[1]]) {
			t.Errorf("%+v, specified is %v", f, row)
		}
	}
}

// figureNamed returns a figure of a synthetic experiment.
func figureNamed(experiment, cell string) figure {
	for _, f := range synthetic[experiment] {
		if f.cell == cell {
			return f
		}
	}
	return figure{}
}

func publishedOf(experiment, cell string) string { return figureNamed(experiment, cell).published }

// TestLoadAndFitness: Tables 7-7 and 7-8 are those specified.
func TestLoadAndFitness(t *testing.T) {
	scenario := map[string]int{"16 h": 1, "12 h": 2, "8 h": 3}
	for _, row := range specified(t, "11.6")[0] {
		policies := strings.Split(strings.Replace(row[1], "all", "FCFS, FCFSPP, FLP, PSOPP", 1), ", ")
		for _, p := range policies {
			at := fmt.Sprintf("scenario %d (a job each %s), %s, ", scenario[row[0]], row[0], p)
			for k, name := range []string{"A/S/F", "job process percentage", "makespan"} {
				if got := publishedOf("E6", at+name); got != row[2+k] {
					t.Errorf("%s%s: %q, specified is %q", at, name, got, row[2+k])
				}
			}
		}
	}
	names := []string{"2 and 1 GHz throughout", "2 and 1 GHz until 36 h, then 1 and 2"}
	for _, row := range specified(t, "11.7")[0] {
		k := int(number(t, row[0]))
		for _, p := range strings.Split(row[1], ", ") {
			at := fmt.Sprintf("scenario %d (%s), %s, ", k, names[k-1], p)
			where := strings.ReplaceAll(row[2], ",", "")
			a, s, _ := strings.Cut(row[3], ", ")
			if got := publishedOf("E7", at+"jobs go to"); got != where {
				t.Errorf("%s: %q, specified is %q", at, got, where)
			}
			if got := publishedOf("E7", at+"A/S/F"); got != a+"/"+s+"/0" {
				t.Errorf("%s: %q, specified is %v", at, got, row[3])
			}
		}
	}
}

// TestScanTable: the figures of section 7.5 that the code has agree with one another: an
// exit is predicted or missed, and shares are those of the counts.
func TestScanTable(t *testing.T) {
	firstDay := map[string]float64{"ucb": 460, "sdsc": 506, "lri": 45, "deug": 2235}
	for _, table := range scanTables {
		of := func(n, p int, name string) float64 {
			for _, c := range table.cells {
				if c.n == n && c.p == p && c.figure == name {
					return c.published
				}
			}
			return math.NaN()
		}
		for _, c := range table.cells {
			cp1, fa := of(c.n, c.p, "CP1"), of(c.n, c.p, "FA")
			var want, off float64
			switch c.figure {
			case "D":
				want, off = 100*cp1/table.total, .06
			case "C":
				want, off = 100*cp1/(cp1+fa), .02
			case "MD": // with the exits of day 1, but for LRI's
				want, off = table.total+firstDay[table.name]-cp1, 0
				if table.name == "lri" {
					want -= firstDay["lri"]
				}
			default:
				continue
			}
			if math.Abs(c.published-want) > off {
				t.Errorf("%s, N = %d, P = %d: %s is %v, the counts make %.3f", table.name, c.n, c.p, c.figure, c.published, want)
			}
		}
	}
	// What stands in the specification stands in the code.
	name := ""
	for _, row := range specified(t, "8.4")[2] {
		if row[0] != "" {
			name = strings.ToLower(row[0])
		}
		n, p, _ := strings.Cut(row[1], ", ")
		p, _, _ = strings.Cut(p, " or")
		for _, table := range scanTables {
			for _, c := range table.cells {
				if table.name != name || float64(c.n) != number(t, n) || float64(c.p) != number(t, p) || c.note != "" {
					continue
				}
				k := slices.Index([]string{"CP1", "MD", "FA", "D", "C"}, c.figure)
				if text, _, _ := strings.Cut(row[2+k], "("); strings.TrimSpace(text) == "" || number(t, text) != c.published {
					t.Errorf("%s, N = %s, P = %s: %s is %v, specified is %q", name, n, p, c.figure, c.published, row[2+k])
				}
			}
		}
	}
}
