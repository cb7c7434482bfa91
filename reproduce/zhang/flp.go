package zhang

import (
	"fmt"
	"math"
	"strings"
	"time"

	"godwit/predictor"
	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// A flpCase is a scenario of Table B-4 with what its day 2 must give.
type flpCase struct {
	t1, t2            float64
	fcfs, fcfspp, flp string // A/S/F
	start, fraction   string // the same of controls: adjusted from t = 0; days read as Fraction
	rap, rapText      string // at 36 h, for the job's 12 h
	best, bestText    string // does FLP reach the highest success of the three?
	note              string
}

const (
	textRAP3 = "the text has 75 % in scenarios 1 and 2, which needs t1 = 21 h; with its t1 = 20 h it is 8/12; the " +
		"decisions are the same"
	textRAP4 = "the text has 91.7 % and 100 % in scenarios 3 and 4; their t1 is the same, so both are 11/12; the " +
		"decisions are the same"
	textBest = "the text names scenarios 1, 3 and 4; by its own table it is 1, 2 and 4 (3 has 50 %), and its summary " +
		"agrees with the table"
)

var flpCases = []flpCase{
	{20, 23, "2/1/1", "1/1/0", "1/1/0", "2/1/1", "2/1/1", "66.7 %", "75 %", "yes", "yes", textRAP3},
	{20, 24, "2/2/0", "1/1/0", "1/1/0", "2/2/0", "2/1/0", "66.7 %", "75 %", "yes", "no", textRAP3},
	{23, 23, "2/1/1", "1/1/0", "2/1/1", "2/1/1", "2/1/1", "91.7 %", "91.7 %", "no", "yes", textRAP4},
	{23, 24, "2/2/0", "1/1/0", "2/2/0", "2/2/0", "2/2/0", "91.7 %", "100 %", "yes", "yes", textRAP4},
}

// flpThreshold is T at 36 h in each scenario: down a point at each of the hours
// from 25 to 36.
const flpThreshold = "88 %"

// flp is the policy of Appendix B.II.
const flp = "flp:lambda=1,interval=1h"

// fuzzy is Appendix B.II: FLP beside FCFS and FCFSPP, and controls that show
// which reading of the thesis its results need.
func fuzzy(b *bench) error {
	b.Say("4 grids of one resource, 2 days of 24 h; job size 12 h; always a job waiting; threshold adjusted each hour; " +
		"nothing random")
	batch := b.Batch()
	scores := make([][3]float64, len(flpCases))
	for i, c := range flpCases {
		t, err := grid(fmt.Sprintf("Table B-4 scenario %d", i+1), 2, machine{until: []float64{c.t1, c.t2}})
		if err != nil {
			return err
		}
		at := fmt.Sprintf("scenario %d, ", i+1)
		for k, a := range []struct{ name, spec, want string }{
			{"FCFS", reproduce.FCFS, c.fcfs}, {"FCFSPP", "fcfspp:reading=prefix", c.fcfspp},
			{"FLP", flp + ",reading=prefix", c.flp},
		} {
			asked := ""
			s := saturated(t, a.spec, 12*time.Hour)
			s.Watch = watchThreshold(&asked)
			batch.Add(s, func(r *sim.Report) {
				d := r.PerDay[1]
				b.Equal(at+a.name+", A/S/F", a.want, asf(d), "S and F follow from A and the prose; days read as Prefix")
				b.Equal(at+a.name+", success", tallySuccess(a.want), success(d.Succeeded, d.Failed), "")
				scores[i][k] = float64(d.Succeeded) / math.Max(1, float64(d.Succeeded+d.Failed))
				if a.name == "FLP" {
					b.rapAt36(at, t, c)
					b.thresholdAt36(at, c, asked)
				}
			})
		}
		for _, a := range []struct{ name, spec, want, note string }{
			{"days read by Eq 4.1", flp + ",reading=transitional", c.fcfspp, "a control: with the definition of section 4.2.1 " +
				"FLP is FCFSPP in all four, which contradicts the text's scenarios 3 and 4"},
			{"days read as Fraction, not cut at midnight", flp + ",reading=fraction", c.fraction,
				"a control: scenarios 1 and 2 allocate a second job at 45.6 h, which contradicts the text"},
			{"T adjusted from t = 0", flp + ",reading=prefix,from=start", c.start,
				"a control: T is 66 % at 36 h, so that scenarios 1 and 2 allocate a second job, which contradicts the text"},
		} {
			asked := ""
			s := saturated(t, a.spec, 12*time.Hour)
			s.Watch = watchThreshold(&asked)
			batch.Add(s, func(r *sim.Report) {
				b.Equal(at+"control FLP, "+a.name+", A/S/F", a.want, asf(r.PerDay[1]), a.note)
				if strings.HasSuffix(a.spec, "from=start") {
					b.Equal(at+"control FLP, "+a.name+", T at 36 h", "66 %", asked, a.note)
				}
			})
		}
	}
	if err := batch.Run(); err != nil {
		return err
	}
	b.flpBest(scores)
	return nil
}

// rapAt36 is the probability for the job at 36 h.
func (b *bench) rapAt36(at string, t *trace.Trace, c flpCase) {
	tde := predictor.NewTDE(predictor.TDEConfig{Reading: predictor.Prefix})
	teach(tde, t.Hosts[0].History)
	p, _ := tde.Stay(reproduce.Epoch.Add(36*time.Hour), 12*time.Hour)
	b.Expect(at+"RAP at 36 h", c.rapText, c.rap, reproduce.Percent(p), c.note)
}

// thresholdAt36 is T at 36 h as the decision there says it; where the job was
// refused, T is above its probability.
func (b *bench) thresholdAt36(at string, c flpCase, asked string) {
	if strings.HasPrefix(c.flp, "2") {
		b.Equal(at+"FLP, T at 36 h", flpThreshold, asked, "as the decision at 36 h says")
		return
	}
	b.Equal(at+"FLP, job at 36 h", "refused", refused(asked), "RAP is below T = "+flpThreshold)
}

func refused(asked string) string {
	if asked == "" {
		return "refused"
	}
	return "placed at T = " + asked
}

// flpBest says in which scenarios FLP is as successful as the best of the three.
func (b *bench) flpBest(scores [][3]float64) {
	fig := reproduce.Figure{Name: "b2-success", Title: "Figs B.15-B.18: success on day 2, Table B-4", X: "scenario",
		Y: "S/(S+F), %", Bars: true}
	for k, name := range []string{"FCFS", "FCFSPP", "FLP"} {
		v := reproduce.Curve{Name: name}
		for i, s := range scores {
			v.X, v.Y = append(v.X, float64(i+1)), append(v.Y, 100*s[k])
		}
		fig.Curves = append(fig.Curves, v)
	}
	b.Figures = append(b.Figures, fig)
	for i, s := range scores {
		best := "no"
		if s[2] >= max(s[0], s[1]) {
			best = "yes"
		}
		note := ""
		if flpCases[i].best != flpCases[i].bestText {
			note = textBest
		}
		b.Expect(fmt.Sprintf("scenario %d, FLP has the highest success", i+1), flpCases[i].bestText, flpCases[i].best, best,
			note)
	}
}

// watchThreshold notes the threshold that a placement at 36 h names as its
// reason.
func watchThreshold(into *string) func(sim.Decision) {
	return func(d sim.Decision) {
		if d.Action != "placed" || !d.At.Equal(reproduce.Epoch.Add(36*time.Hour)) {
			return
		}
		_, rest, ok := strings.Cut(d.Reason, "with probability ")
		var stay, threshold float64
		if _, err := fmt.Sscanf(rest, "%g, and %g is asked for", &stay, &threshold); !ok || err != nil {
			*into = d.Reason
			return
		}
		*into = reproduce.Percent(threshold)
	}
}

// tallySuccess is the success of an A/S/F.
func tallySuccess(s string) string {
	var a, ok, lost uint64
	if _, err := fmt.Sscanf(s, "%d/%d/%d", &a, &ok, &lost); err != nil {
		return "N/A"
	}
	return success(ok, lost)
}

// teach shows a predictor a whole history.
func teach(p predictor.Predictor, h *trace.History) {
	for i := range h.Len() {
		s := h.Spell(i)
		p.Observe(s.Start, s.State)
	}
}
