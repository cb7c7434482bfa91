package predictor

import (
	"math"
	"slices"
	"sort"
	"time"
)

// A Question is one of a back-test: will this host, available at At, stay so
// for the horizon? Questions with one Group were asked at one time, to pick a
// host among those that were there.
type Question struct {
	Host   int
	Group  int
	At     time.Time
	Stayed bool    // what happened
	P      float64 // what the predictor said
	Known  bool    // that it rests on something seen of the host
}

// A Score is how good a set of answers is. Fields that the questions cannot
// decide, such as AUC when every host stayed, are NaN.
type Score struct {
	Questions int
	BaseRate  float64 // share that stayed
	NoHistory float64 // share of questions about hosts of which nothing was known
	AUC       float64 // probability that one that stayed got more than one that left
	Brier     float64 // mean squared error, 0 to 1, lower is better
	LogLoss   float64 // mean -ln of what was given to what happened, of p within logLossClip
	Pick      float64 // share that stayed of those picked from each group; ties at random

	// Detection and Correct are Zhang's Eq 7.14 and 7.15 with an exit predicted
	// where p is below the threshold: the share of exits that were predicted, and
	// of predicted exits that came.
	Detection, Correct float64

	Reliability []Bin
	Surest      Bin // the answers of at least Sure, which Reliability counts too
}

// Sure is from where on an answer says that a host stays: where hosts hardly ever
// leave all answers do, and one tenth does not tell how far they are believed.
const Sure = 0.99

// A Bin is a row of a reliability table: of N answers of mean P, Stayed came true.
type Bin struct {
	P, Stayed float64
	N         int

	// Chance is how far Stayed may be from P where every answer is right: 95 % of such bins
	// are nearer. The answers about one host hang together, so it is by hosts: 1.96 times
	// the root of the sum of squares of what each host is off by, over N. It is no less for
	// a bin of few hosts of which all stayed.
	Chance float64
}

// chanceErrors is how many standard errors of a normal law hold 95 %.
const chanceErrors = 1.96

// reliabilityBins are of equal width.
const reliabilityBins = 10

// logLossClip bounds p away from 0 and 1: one sure answer that is wrong costs
// ln 1000, not the whole score.
const logLossClip = 0.001

// Outcomes counts an exit predictor's answers: Zhang's Table 5-1.
type Outcomes struct{ CP1, CP2, FA, MD int }

// Outcome counts one answer: an exit was predicted or not, and came or not.
func (o *Outcomes) Outcome(predicted, left bool) {
	switch {
	case predicted && left:
		o.CP1++
	case predicted:
		o.FA++
	case left:
		o.MD++
	default:
		o.CP2++
	}
}

// Detection is CP1 / (CP1 + MD), Eq 7.14: the share of exits that were predicted.
func (o Outcomes) Detection() float64 { return float64(o.CP1) / float64(o.CP1+o.MD) }

// Correct is CP1 / (CP1 + FA), Eq 7.15: the share of predicted exits that came.
func (o Outcomes) Correct() float64 { return float64(o.CP1) / float64(o.CP1+o.FA) }

// A Scorer scores answers, whole or with each host counted several times or not
// at all. It keeps the questions sorted; they must not change.
type Scorer struct {
	questions []Question
	threshold float64
	order     []int   // by P, falling
	ties      []int   // ends of runs of equal P in order
	groups    [][]int // questions of each group that are equally best
	hosts     int
}

// NewScorer prepares scoring. An exit counts as predicted where p < threshold;
// a threshold of 1 is the thesis's.
func NewScorer(qs []Question, threshold float64) *Scorer {
	s := &Scorer{questions: qs, threshold: threshold, order: make([]int, len(qs))}
	groups := 0
	for i, q := range qs {
		s.order[i] = i
		s.hosts = max(s.hosts, q.Host+1)
		groups = max(groups, q.Group+1)
	}
	sort.SliceStable(s.order, func(a, b int) bool { return qs[s.order[a]].P > qs[s.order[b]].P })
	for i := range s.order {
		if i+1 == len(s.order) || qs[s.order[i]].P != qs[s.order[i+1]].P {
			s.ties = append(s.ties, i+1)
		}
	}
	s.groups = make([][]int, groups)
	for i, q := range qs {
		best := s.groups[q.Group]
		switch {
		case len(best) == 0 || q.P > qs[best[0]].P:
			s.groups[q.Group] = append(best[:0], i)
		case q.P == qs[best[0]].P:
			s.groups[q.Group] = append(best, i)
		}
	}
	return s
}

// Score scores all answers.
func (s *Scorer) Score() Score {
	ones := make([]float64, s.hosts)
	for i := range ones {
		ones[i] = 1
	}
	out := s.weighted(ones)
	out.Reliability, out.Surest = reliability(s.questions)
	var o Outcomes
	for _, q := range s.questions {
		o.Outcome(q.P < s.threshold, !q.Stayed)
	}
	out.Detection, out.Correct = o.Detection(), o.Correct()
	return out
}

// weighted scores with each host's questions counted w times.
func (s *Scorer) weighted(w []float64) Score {
	var n, stayed, unknown, brier, loss float64
	for _, q := range s.questions {
		v := w[q.Host]
		if v == 0 {
			continue
		}
		n += v
		y := 0.0
		if q.Stayed {
			y = 1
		}
		stayed += v * y
		if !q.Known {
			unknown += v
		}
		brier += v * (q.P - y) * (q.P - y)
		loss -= v * math.Log(max(logLossClip, 1-math.Abs(q.P-y)))
	}
	return Score{Questions: len(s.questions), BaseRate: stayed / n, NoHistory: unknown / n,
		Brier: brier / n, LogLoss: loss / n, AUC: s.auc(w), Pick: s.pick(w)}
}

// auc is the area under the ROC curve, equal answers counting half.
func (s *Scorer) auc(w []float64) float64 {
	area, above, left, stayed := 0.0, 0.0, 0.0, 0.0
	from := 0
	for _, to := range s.ties {
		tieStayed, tieLeft := 0.0, 0.0
		for _, i := range s.order[from:to] {
			q := &s.questions[i]
			if q.Stayed {
				tieStayed += w[q.Host]
			} else {
				tieLeft += w[q.Host]
			}
		}
		area += tieLeft * (above + tieStayed/2)
		above += tieStayed
		stayed, left = stayed+tieStayed, left+tieLeft
		from = to
	}
	return area / (stayed * left)
}

// pick is the share of the picked that stayed; a group counts as its picked do.
func (s *Scorer) pick(w []float64) float64 {
	stayed, n := 0.0, 0.0
	for _, best := range s.groups {
		share := 1 / float64(len(best))
		for _, i := range best {
			q := &s.questions[i]
			n += w[q.Host] * share
			if q.Stayed {
				stayed += w[q.Host] * share
			}
		}
	}
	return stayed / n
}

func reliability(qs []Question) (tenths []Bin, surest Bin) {
	var all [reliabilityBins + 1]gathered // the last is of the surest
	for _, q := range qs {
		all[min(reliabilityBins-1, int(q.P*reliabilityBins))].count(q)
		if q.P >= Sure {
			all[reliabilityBins].count(q)
		}
	}
	for i := range reliabilityBins {
		if all[i].N > 0 {
			tenths = append(tenths, all[i].bin())
		}
	}
	if all[reliabilityBins].N > 0 {
		surest = all[reliabilityBins].bin()
	}
	return tenths, surest
}

// A gathered bin is its sums.
type gathered struct {
	Bin
	off map[int]float64 // by host: what was said less what came true
}

func (t *gathered) count(q Question) {
	if t.off == nil {
		t.off = map[int]float64{}
	}
	y := 0.0
	if q.Stayed {
		y = 1
	}
	t.N++
	t.P += q.P
	t.Stayed += y
	t.off[q.Host] += q.P - y
}

// bin makes means of sums.
func (t *gathered) bin() Bin {
	n, squares := float64(t.N), make([]float64, 0, len(t.off))
	for _, off := range t.off {
		squares = append(squares, off*off)
	}
	slices.Sort(squares) // a sum in one order
	sum := 0.0
	for _, s := range squares {
		sum += s
	}
	return Bin{P: t.P / n, Stayed: t.Stayed / n, N: t.N, Chance: chanceErrors * math.Sqrt(sum) / n}
}
