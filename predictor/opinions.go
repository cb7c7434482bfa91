package predictor

import "math"

// The opinions of the default predictor: experts alone, and mixes of them. Each is a
// survival curve of its own; what a reader says is a mixture of them all.
const (
	opinionClocked   = iota // the steady mix, and departures by the clock
	opinionSteady           // the steady mix: sessions' lengths above all
	opinionBroad            // the broad mix, and departures by the clock
	opinionDays             // the mix that looks at the same hours of earlier days
	opinionLife             // how long this host's sessions last
	opinionLifeClock        // the same, and departures by the clock
	opinionTwo              // lengths of sessions and hours of the day alone, and departures by the clock
	opinionEven             // how often it left in all its past, whatever age and hour
	opinions
)

// Mixes weigh the experts' log-odds, in the order of the experts, then the bias. The
// broad one is a logistic regression over all the sets of docs/spec/predictors.md section
// 3.2 together, on the first half of the relays' days, every other phone, and generated
// sets of a seed of their own; rounded. The others were set by hand, to differ from it
// where hosts do: steady ones without the days, and those with a rhythm with more of
// them. They were looked at on all sets that there are; no set has one of its own.
var (
	broadMix  = [weights]float64{.7, .1, .25, .05, .05, .15, .25}
	steadyMix = [weights]float64{.6, .25, .1, .05, .05, 0, .1}
	daysMix   = [weights]float64{.3, .2, .5, 0, 0, .1, .1}
	twoMix    = [weights]float64{.4, .6, 0, 0, 0, 0, 0}
)

// opine asks all opinions, from what the experts say and the hazard of the clock.
func opine(p *[opinions]float64, x *[experts]float64, even, cliff float64) {
	clock := 1.0
	if cliff > 0 {
		clock = math.Exp(-cliff)
	}
	steady, life := mix(&steadyMix, x), odds(x[expertLife])
	p[opinionClocked], p[opinionSteady] = steady*clock, steady
	p[opinionBroad] = mix(&broadMix, x) * clock
	p[opinionDays] = mix(&daysMix, x)
	p[opinionLife], p[opinionLifeClock] = life, life*clock
	p[opinionTwo], p[opinionEven] = mix(&twoMix, x)*clock, even
}

// How opinions are weighed: Vovk's aggregating algorithm (Vovk 1990; Vovk and Zhdanov
// 2009) for the square loss of a probability, (p-y)^2. That game is mixable with
// rate 2: with weights w_i in proportion to prior_i e^(-2 L_i), L_i being what opinion
// i lost so far, there is a p whose loss is at most -1/2 ln(sum of w_i e^(-2 l_i))
// whatever happens, and p below is one. So after any number of answers, however a host
// behaves, the mixture has lost at most
//
//	L_i + (1/2) ln(1/prior_i)
//
// for every opinion i: at the first weights at most 1.5 of the square loss more than the
// best of them, in all. An answer that comes when others are open too costs that once for
// each that can be open, at the most (Joulani, Gyorgy and Szepesvari 2013).
//
// Losses enter as the excess over the first opinion's, which changes no weight. A host
// keeps them within mostExcess, so that an opinion that was wrong for long is heard
// again soon after the host's ways change, as in Herbster and Warmuth's tracking of
// the best expert (1998). The bound is proved up to there.
const mixRate = 2.0

// firstWeights are those of opinions before anything is learnt, set by hand: half for the
// mixes that hear every expert, least for those that hear one alone. Of sum 1.
var firstWeights = [opinions]float64{opinionClocked: .25, opinionBroad: .25, opinionSteady: .1, opinionDays: .1,
	opinionLife: .1, opinionLifeClock: .1, opinionTwo: .05, opinionEven: .05}

// firstExcess are the excesses that have these weights.
var firstExcess = func() (e [opinions]float64) {
	for i, w := range firstWeights {
		e[i] = math.Log(firstWeights[0]/w) / mixRate
	}
	return e
}()

// mostExcess bounds what is kept of an excess: a weight of e^-15 to 1.
const mostExcess = 7.5

// poolHosts is for how many hosts' losses the pool counts at the most in a host's
// weights: the prior is then e^(-2 x 10 x the mean excess). A pool that counted for
// all its hosts would have no host differ from the others. With 3, 30 and 100 the
// Brier scores over nine sets were within 2 % of each other.
const poolHosts = 10.0

// weigh makes weights of sum 1 of excesses.
func weigh(excess *[opinions]float64) (w [opinions]float64) {
	least := excess[0]
	for _, e := range excess {
		least = min(least, e)
	}
	sum := 0.0
	for i, e := range excess {
		w[i] = math.Exp(-mixRate * (e - least))
		sum += w[i]
	}
	for i := range w {
		if w[i] /= sum; w[i] < noWeight {
			w[i] = 0
		}
	}
	return w
}

// noWeight is what is not worth the asking.
const noWeight = 1e-6

// aggregate is what weighed opinions come to.
func aggregate(w, p *[opinions]float64) float64 { return substitute(w[:], p[:]) }

// substitute is Vovk's substitution for the square loss: it rises with each p, so that
// the answer falls with the horizon as what is weighed does.
func substitute(w, p []float64) float64 {
	stay, leave := 0.0, 0.0
	for i, w := range w {
		if w == 0 {
			continue
		}
		stay += w * bell(1-p[i])
		leave += w * bell(p[i])
	}
	return max(0, min(1, .5+math.Log(stay/leave)/(2*mixRate)))
}

// bells are e^(-mixRate x^2) at steps of x from 0 to 1, for bell.
var bells = func() (b [bellSteps + 1]float64) {
	for i := range b {
		x := float64(i) / bellSteps
		b[i] = math.Exp(-mixRate * x * x)
	}
	return b
}()

// bellSteps is how many steps there are: with so many the series in bell is right to 1e-13.
const bellSteps = 1024

// bell is e^(-mixRate x^2) for x of 0 to 1, from the nearest step on as a series: exponentials
// are most of what a forecast costs.
func bell(x float64) float64 {
	i := int(x*bellSteps + .5)
	at := float64(i) / bellSteps
	h := -mixRate * (x - at) * (x + at)
	return bells[i] * (1 + h*(1+h/2*(1+h/3*(1+h/4))))
}

// An excess is kept as steps of a logarithm with a sign: 0 to mostExcess within 3 %.
const (
	excessPerOctave = 16
	excessUnit      = 1.0 / 32
	excessSteps     = 127
)

func excessStep(x float64) int8 {
	n := math.Round(excessPerOctave * math.Log2(1+min(math.Abs(x), mostExcess)/excessUnit))
	return int8(math.Copysign(min(excessSteps, n), x))
}

func excessValue(b int8) float64 {
	x := excessUnit * (math.Exp2(math.Abs(float64(b))/excessPerOctave) - 1)
	return math.Copysign(min(x, mostExcess), float64(b))
}
