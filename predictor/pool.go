package predictor

import "math"

// A Pool is what is known of hosts at large: the sum of the records seen, and what was
// learnt by what came true of them. It gives the prior of every reader, and the weights of the opinions with which a
// host begins. Peers build their own from gossip; no server is needed. The zero
// Pool is empty, and answers by the literature's priors. It is for one goroutine
// at a time, but readers may share one that is not changed meanwhile.
type Pool struct {
	records int
	lives   Lives
	day     tallied
	excess  [opinions - 1]float64 // summed

	plain   bool // no hour has a cliff, and nothing is learnt
	firm    float64
	lessons *lessons // nil: nothing was learnt

	settled bool
	ends    [octaves]float64 // hazard in each octave of age
	life    curve
	rate    float64           // exits per hour there, at hours without a cliff
	ratio   [24]float64       // of each hour's hazard, cliff included, to rate
	prior   [opinions]float64 // excess with which a host's own begins
	usual   [classes]float64  // share of the times at which a stay for an anchor lay ahead
}

// Add counts a record.
func (p *Pool) Add(r *Record) {
	p.settled = false
	p.records++
	for k := range octaves {
		p.lives.Ends[k] += float64(r.Ends[k])
		p.lives.Lost[k] += float64(r.Lost[k])
	}
	for h := range 24 {
		p.day.exits[h] += levels[r.Exits[h]]
		p.day.up[h] += levels[r.Exposure[h]]
	}
	for i, e := range r.Excess {
		p.excess[i] += excessValue(e)
	}
}

// Renew has the pool hold these records and no others; what Learn was told stays. Readers
// made before are stale; goroutines may then share the pool for reading.
func (p *Pool) Renew(records []Record) {
	*p = Pool{plain: p.plain, firm: p.firm, lessons: p.lessons}
	for i := range records {
		p.Add(&records[i])
	}
	p.settle()
}

// Records is how many records were added.
func (p *Pool) Records() int { return p.records }

// The priors of a pool without records. Up times in the Failure Trace Archive
// follow Weibull laws of shape .33 to .85, median about .5, and of scales whose
// median is about 12 h (Javadi et al. 2013, in docs/spec/predictors.md section 2.5).
const (
	priorShape = 0.5
	priorScale = 12 * 60 // minutes
	priorRate  = 1.0 / 24
)

// Weights of the priors, in sessions that enter an octave and in hours there.
const (
	poolLives = 4.0
	poolHours = 4.0
)

// cliffRatio is that of this pool's readers.
func (p *Pool) cliffRatio() float64 {
	if p.plain {
		return math.Inf(1)
	}
	return cliffRatio
}

// settle derives the curves from the sums.
func (p *Pool) settle() {
	if p.settled {
		return
	}
	p.settled = true
	var prior [octaves]float64
	for k := range prior {
		from, to := 0.0, math.Exp2(float64(k))
		if k > 0 {
			from = math.Exp2(float64(k - 1))
		}
		prior[k] = -math.Expm1(math.Pow(from/priorScale, priorShape) - math.Pow(to/priorScale, priorShape))
	}
	p.ends = p.lives.hazards(&prior, poolLives)
	p.life = newCurve(&p.ends)
	for c, anchor := range anchors {
		p.usual[c] = p.lives.usual(hours(anchor))
	}

	var even [24]float64
	for h := range even {
		even[h] = 1
	}
	var course, cliff dayCourse
	p.rate, course, cliff = p.day.split(poolHours, poolHours, priorRate, &even, p.cliffRatio())
	for h := range 24 {
		p.ratio[h] = (course.rate[h] + cliff.rate[h]) / p.rate
	}
	counted := min(poolHosts, float64(p.records)) / max(1, float64(p.records))
	p.prior = firstExcess
	for i, e := range p.excess {
		p.prior[i+1] += counted * e
	}
}
