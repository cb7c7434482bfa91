package zhang

import (
	"fmt"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// systemCases is Appendix B.I-1: which of the five cases of chapter 5 a pair of
// days is, and what FCFS and FCFSPP make of it.
func systemCases(b *bench) error {
	b.Say("5 grids of one resource, 2 days of 24 h; job size 24 h; always a job waiting from t = 0; nothing random")
	batch := b.Batch()
	for i, c := range []struct {
		t1, t2                        float64
		first, fcfs, fcfspp           string
		firstPct, fcfsPct, fcfsppPct  string
		used, printed                 string // of day 2 under FCFSPP: as defined, and as the text prints it
		slipFirst, slipSecond, slipPC string
	}{
		{24, 24, "1/1/0", "1/1/0", "1/1/0", "100 %", "100 %", "100 %", "100 %", "100 %", "", "", ""},
		{24, 12, "1/1/0", "1/0/1", "1/0/1", "100 %", "0 %", "0 %", "100 %", "0 %", "", "", ""},
		{12, 10, "1/0/1", "1/0/1", "0/0/0", "0 %", "0 %", "N/A", "0 %", "0 %", slipDay1, slipRAP, slipNA},
		{12, 24, "1/0/1", "1/1/0", "0/0/0", "0 %", "100 %", "N/A", "0 %", "0 %", slipDay1, slipRAP, slipNA},
		{10, 12, "1/0/1", "1/0/1", "0/0/0", "0 %", "0 %", "N/A", "0 %", "0 %", slipDay1, slipRAP, slipNA},
	} {
		for _, a := range []struct{ name, spec, second, pct string }{{"FCFS", reproduce.FCFS, c.fcfs, c.fcfsPct},
			{"FCFSPP", "fcfspp:t=1,n=1,m=1", c.fcfspp, c.fcfsppPct}} {
			t, err := grid(fmt.Sprintf("Table B-1 scenario %d", i+1), 2, machine{until: []float64{c.t1, c.t2}})
			if err != nil {
				return err
			}
			at := fmt.Sprintf("scenario %d, %s, ", i+1, a.name)
			batch.Add(saturated(t, a.spec, 24*time.Hour), func(r *sim.Report) {
				d1, d2 := r.PerDay[0], r.PerDay[1]
				b.Equal(at+"day 1, A/S/F", c.first, asf(d1), c.slipFirst)
				b.Equal(at+"day 1, success", c.firstPct, success(d1.Succeeded, d1.Failed), "")
				used := reproduce.Percent(d2.UsedS / d2.AvailableS)
				if a.name == "FCFS" {
					b.Equal(at+"day 2, A/S/F", a.second, asf(d2), "")
					b.Equal(at+"day 2, success", a.pct, success(d2.Succeeded, d2.Failed), "")
					b.Equal(at+"day 2, utilisation", "100 %", used, "Fig. B.9")
					return
				}
				b.Equal(at+"day 2, A/S/F", a.second, asf(d2), c.slipSecond)
				b.Equal(at+"day 2, success", a.pct, success(d2.Succeeded, d2.Failed), c.slipPC)
				note := "Fig. B.9"
				if c.used != c.printed {
					note = "the text prints 0 % (100 % in scenario 1 only); RAP is 100 % here as well, and the job used all 12 " +
						"available hours before it was lost"
				}
				b.Expect(at+"day 2, utilisation", c.printed, c.used, used, note)
			})
		}
	}
	return batch.Run()
}

// What the text of B.I-1 prints by mistake.
const (
	slipDay1 = "the paragraph on day 1's failures says that Total Succeeded Jobs is 1; it means Failed"
	slipRAP  = "the text says that A is 0 as RAP is 100 %; it means below 100 %"
	slipNA   = "the sentence on N/A repeats scenario 2; it means 3, 4 and 5"
)

// The published columns of Table B-2 and B-3, scenarios 1 to 7; A of FCFSPP is
// S + F (Fig. B.11 is lost).
var differences = []struct {
	t1          float64
	rho         string
	fcfspp, pct string
}{
	{3, "0.378", "0/0/0", "N/A"},
	{6, "0.577", "1/1/0", "100 %"},
	{9, "0.775", "1/1/0", "100 %"},
	{12, "1.000", "2/2/0", "100 %"},
	{15, "0.775", "2/2/0", "100 %"},
	{18, "0.577", "3/2/1", "66.7 %"},
	{21, "0.378", "3/2/1", "66.7 %"},
}

// influence is Appendix B.I-2: the difference dt of the first unavailability on
// the checking and the prediction day.
func influence(b *bench) error {
	b.Say("7 grids of one resource, 2 days of 24 h, t2 = 12 h; job size 6 h; always a job waiting; nothing random")
	batch := b.Batch()
	dts := make([]float64, len(differences))
	s := map[string][]float64{"FCFS": make([]float64, len(differences)), "FCFSPP": make([]float64, len(differences))}
	f := map[string][]float64{"FCFS": make([]float64, len(differences)), "FCFSPP": make([]float64, len(differences))}
	for i, c := range differences {
		t, err := grid(fmt.Sprintf("Table B-2 scenario %d", i+1), 2, machine{until: []float64{c.t1, 12}})
		if err != nil {
			return err
		}
		dts[i] = c.t1 - 12
		at := fmt.Sprintf("scenario %d (dt = %g h), ", i+1, dts[i])
		h := t.Hosts[0].History
		rho, _ := trace.PMCC(h, reproduce.Epoch, h, reproduce.Epoch.Add(reproduce.Day), reproduce.Day)
		b.Equal(at+"rho", c.rho, fmt.Sprintf("%.3f", rho), "Table B-3, population form")
		for _, a := range []struct{ name, spec, want, pct, note string }{
			{"FCFS", reproduce.FCFS, "3/2/1", "66.7 %", ""},
			{"FCFSPP", "fcfspp", c.fcfspp, c.pct, "A is S + F of Table B-3: Fig. B.11 is lost"},
		} {
			batch.Add(saturated(t, a.spec, 6*time.Hour), func(r *sim.Report) {
				d := r.PerDay[1]
				s[a.name][i], f[a.name][i] = float64(d.Succeeded), float64(d.Failed)
				b.Equal(at+a.name+", A/S/F", a.want, asf(d), a.note)
				b.Equal(at+a.name+", success", a.pct, success(d.Succeeded, d.Failed), "")
			})
		}
		for _, reading := range []string{"prefix", "fraction"} {
			batch.Add(saturated(t, "fcfspp:reading="+reading, 6*time.Hour), func(r *sim.Report) {
				b.Equal(at+"FCFSPP read as "+reading+", A/S/F", c.fcfspp, asf(r.PerDay[1]),
					"with T = 100 % every reading of Eq 4.1 decides alike")
			})
		}
	}
	if err := batch.Run(); err != nil {
		return err
	}
	for _, name := range []string{"S", "F"} {
		from := map[string]map[string][]float64{"S": s, "F": f}[name]
		b.Figures = append(b.Figures, reproduce.Figure{
			Name: "b1-2-" + name, Title: "Figs B.10-B.14: " + name + " on day 2 by dt", X: "dt = t1 - t2, h", Y: name,
			Bars:   true,
			Curves: []reproduce.Curve{{Name: "FCFS", X: dts, Y: from["FCFS"]}, {Name: "FCFSPP", X: dts, Y: from["FCFSPP"]}},
		})
	}
	return nil
}
