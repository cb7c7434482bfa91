package sim

import (
	"math"
	"math/rand/v2"

	"godwit/internal/spec"
)

// A Law is how lengths are spread about their mean: the work of a class's tasks, or
// the times between its jobs. It is a specification, a name and after a colon its
// parameters with commas between them, as in "weibull:shape=0.5"; "" is Fixed.
type Law string

// Laws without parameters. See DescribeLaws for all there are.
const (
	Fixed       Law = "fixed"
	Exponential Law = "exponential"
	UniformWork Law = "uniform"
	CubedWork   Law = "cubed"
)

// A Draw draws one number of a law, 0 or more and of mean 1 (of the cubed law, which
// is as published, 1.000625): whoever uses it multiplies by the mean that it wants.
// Numbers that are too large to count are the most there is, others than numbers too. It draws from rng alone and
// keeps nothing
// between calls.
type Draw func(rng *rand.Rand) float64

// Params are the parameters of one specification: see its methods. It is named here
// for packages outside the module, which write laws too.
type Params = spec.Params

// A LawKind is a law by name: its parameters, what it is, and how its numbers are
// drawn; nil is a law whose numbers all are 1.
type LawKind = spec.Kind[Draw]

// RegisterLaw makes a law known by name: to scenario files and the command's help.
// It is called from init functions only, of any package, and panics on a name that
// is taken, or that no specification could have.
func RegisterLaw(name string, k LawKind) { laws.Register(name, k) }

var laws = spec.Registry[Draw]{Room: "sim", Thing: "law", Default: string(Fixed)}

// Draw returns how numbers of the law are drawn; nil, without an error, if all are
// 1. The error says what is wrong with the specification.
func (l Law) Draw() (Draw, error) {
	d, _, err := laws.Parse(string(l))
	return d, err
}

// LawNames returns the names of all laws, sorted.
func LawNames() []string { return laws.Names() }

// DescribeLaws says what each law is and which parameters it has, a line each.
func DescribeLaws() string { return laws.Describe() }

// mustDraw is Draw of a law that was found valid.
func (l Law) mustDraw() Draw {
	d, err := l.Draw()
	if err != nil {
		panic("sim: " + err.Error())
	}
	return d
}

const (
	// usualShape is that of the Weibull law where none is given: a hazard that falls
	// with age, of coefficient of variation 2.2.
	usualShape = 0.5
	leastShape = 0.1 // below, nearly all numbers are 0 and some more than any run is long
	mostShape  = 100

	// usualSigma is the standard deviation of the logarithm where none is given: a
	// coefficient of variation of 1.3.
	usualSigma = 1
	mostSigma  = 10

	// usualTail is the exponent of the Pareto law where none is given: a finite mean
	// and an infinite variance, between the exponents near 1 of processes' lifetimes
	// (M. Harchol-Balter and A. Downey, ACM Trans. Comput. Syst. 15(3), 1997) and the 2
	// from which on the variance is finite.
	usualTail = 1.5
	leastTail = 1.01 // at 1 the mean is infinite
	mostTail  = 100

	// cubedBy is by how much a length of the cubed law varies.
	cubedBy = 0.025
)

func init() {
	RegisterLaw("fixed", LawKind{Does: "all alike", Make: func(*Params) Draw { return nil }})
	RegisterLaw("exponential", LawKind{Does: "memoryless", Make: func(*Params) Draw { return (*rand.Rand).ExpFloat64 }})
	RegisterLaw("uniform", LawKind{Does: "from 0 to twice the mean, all alike", Make: func(*Params) Draw {
		return func(rng *rand.Rand) float64 { return 2 * rng.Float64() }
	}})
	RegisterLaw("cubed", LawKind{Does: "the cube of a length that varies by 2.5 %: loops in three (Kokaly 2008, " +
		"appendix D and Fig. 6.2)", Make: func(*Params) Draw {
		return func(rng *rand.Rand) float64 {
			n := 1 - cubedBy + 2*cubedBy*rng.Float64()
			return n * n * n
		}
	}})
	RegisterLaw("weibull", LawKind{Params: "shape",
		Does: "Weibull; with a shape under 1 many are short and some are very long, shape=1 is exponential", Make: weibull})
	RegisterLaw("lognormal", LawKind{Params: "sigma", Does: "their logarithms are normal, of standard deviation sigma",
		Make: lognormal})
	RegisterLaw("pareto", LawKind{Params: "tail",
		Does: "Pareto, none under (tail-1)/tail of the mean; of infinite variance with a tail of 2 or less", Make: pareto})
}

// weibull draws scale*E^(1/shape) of an exponential E, whose mean is
// scale*Gamma(1+1/shape).
func weibull(ps *Params) Draw {
	k := ps.Number("shape", usualShape, leastShape, mostShape)
	scale := 1 / math.Gamma(1+1/k)
	return func(rng *rand.Rand) float64 { return scale * math.Pow(rng.ExpFloat64(), 1/k) }
}

// lognormal draws exp(sigma*Z - sigma^2/2) of a normal Z, whose mean is 1.
func lognormal(ps *Params) Draw {
	sigma := ps.Number("sigma", usualSigma, 0, mostSigma)
	return func(rng *rand.Rand) float64 { return math.Exp(sigma*rng.NormFloat64() - sigma*sigma/2) }
}

// pareto draws least*exp(E/tail) of an exponential E, whose mean is
// least*tail/(tail-1).
func pareto(ps *Params) Draw {
	a := ps.Number("tail", usualTail, leastTail, mostTail)
	least := (a - 1) / a
	return func(rng *rand.Rand) float64 { return least * math.Exp(rng.ExpFloat64()/a) }
}
