package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/spec"
)

// SynthConfig says how much a generator makes. Zeros take the kind's own
// figures, those of the set that it is like.
type SynthConfig struct {
	Hosts int // at most MaxHosts
	Days  int // at most maxDays
	Seed  uint64
	// Start is the first day, at midnight UTC, which the generators take for
	// the hosts' own midnight.
	Start time.Time
}

// maxDays bounds what one call makes: ten years.
const maxDays = 3660

// A generator makes the hosts of one kind.
type generator struct {
	kind, name, about string
	hosts, days       int
	start             time.Time
	window            Window
	// host writes a host's whole record into h; rng is its own. w is nil for hosts
	// without a rhythm, and whatever it is for a kind that has one of its own.
	host func(h *Host, t *Trace, rng *rand.Rand, w *wave) error
	// rhythm is what is published of its day.
	rhythm rhythm
	// own says that the kind has a rhythm of its own.
	own bool
	// through says that intervals go on from day to day.
	through bool
}

// SynthKinds lists the kinds that Synthesize makes, each with a line about it.
func SynthKinds() [][2]string {
	var out [][2]string
	for _, g := range generators() {
		out = append(out, [2]string{g.kind, g.about})
	}
	return out
}

func generators() []generator {
	all := []generator{ucbLike(), regimeLike(sdsc), regimeLike(lri), regimeLike(deug), office()}
	for _, l := range Laws() {
		all = append(all, l.generator(false), l.generator(true))
	}
	return all
}

// RhythmUsage says what may stand behind a kind's name.
const RhythmUsage = ":rhythm=day,swing=,peak="

// Synthesize makes a set of hosts, labelled synthetic. A host depends on kind,
// seed and its number alone: with more hosts or days the earlier ones stay what
// they were. Times are whole seconds. Behind a colon a kind takes a rhythm of the day:
// see CheckSynth.
func Synthesize(kind string, c SynthConfig) (*Trace, error) {
	g, r, err := readSynth(kind)
	if err != nil {
		return nil, err
	}
	if c.Hosts == 0 {
		c.Hosts = g.hosts
	}
	if c.Days == 0 {
		c.Days = g.days
	}
	if c.Start.IsZero() {
		c.Start = g.start
	}
	if c.Hosts < 1 || c.Hosts > MaxHosts || c.Days < 1 || c.Days > maxDays {
		return nil, fmt.Errorf("%d hosts and %d days: there can be 1 to %d hosts and 1 to %d days", c.Hosts, c.Days,
			MaxHosts, maxDays)
	}
	w, err := g.fitWave(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	t := g.frame(c)
	t.Synthetic = fmt.Sprintf("generator %s, %d hosts, %d days, seed %d: %s", g.kind+r.text(), c.Hosts, c.Days, c.Seed,
		g.about)
	for n := range c.Hosts {
		h := Host{History: &History{Host: strconv.Itoa(n + 1)}}
		if err := g.host(&h, t, hostRand(g.kind, c.Seed, n), w); err != nil {
			return nil, fmt.Errorf("making host %d: %w", n+1, err)
		}
		t.Hosts = append(t.Hosts, h)
	}
	return t, nil
}

// CheckSynth says what is wrong with a kind, as Synthesize would. It is the name of one of
// SynthKinds, and may have parameters: rhythm=day has the share of hosts that are up go over
// each day's window as a wave, by swing to either side, most of them at the hour peak. Left
// out these two are what is published of the set. The lengths of intervals keep their laws.
// How much of a rhythm hosts can have is known only when they are made.
func CheckSynth(kind string) error {
	_, _, err := readSynth(kind)
	return err
}

func readSynth(kind string) (g generator, r rhythm, err error) {
	name, values, err := spec.Split(kind)
	if err != nil {
		return g, r, err
	}
	all := generators()
	i := slices.IndexFunc(all, func(g generator) bool { return g.kind == strings.TrimSuffix(name, "-like") })
	if i < 0 {
		var names []string
		for _, g := range all {
			names = append(names, g.kind)
		}
		return g, r, fmt.Errorf("no generator makes %q: kinds are %s", name, strings.Join(names, " "))
	}
	g = all[i]
	if g.own && len(values) > 0 {
		return g, r, fmt.Errorf("%s has a rhythm of its own and takes no other: leave out what is behind the colon", g.kind)
	}
	if r, err = readRhythm(values, g.rhythm); err != nil {
		return g, r, fmt.Errorf("%s: %w", g.kind, err)
	}
	return g, r, nil
}

// frame is a set of a kind without its hosts.
func (g *generator) frame(c SynthConfig) *Trace {
	return &Trace{
		Name:   g.name,
		Start:  midnight(c.Start).Add(g.window.From),
		End:    midnight(c.Start).Add(time.Duration(c.Days-1)*day + g.window.From + g.window.Length()),
		Window: g.window,
		Sample: time.Second,
	}
}

// hostRand is the randomness of one host, whatever other hosts there are.
func hostRand(kind string, seed uint64, n int) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "godwit trace %s %d %d", kind, seed, n))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}

// A law is a distribution of interval lengths, in hours.
type law interface {
	draw(rng *rand.Rand) float64
	// residual is what is left of an interval that is met at a random time.
	residual(rng *rand.Rand) float64
	mean() float64
}

// hyperexp is a mixture of two exponentials.
type hyperexp struct {
	long, short float64 // means, hours
	pShort      float64 // probability of the short one
}

func (h hyperexp) mean() float64 { return h.pShort*h.short + (1-h.pShort)*h.long }

func (h hyperexp) draw(rng *rand.Rand) float64 {
	if rng.Float64() < h.pShort {
		return h.short * rng.ExpFloat64()
	}
	return h.long * rng.ExpFloat64()
}

func (h hyperexp) residual(rng *rand.Rand) float64 {
	// Long intervals are met more often; what is left of either is exponential.
	return hyperexp{h.long, h.short, h.pShort * h.short / h.mean()}.draw(rng)
}

// scaled multiplies both means.
func (h hyperexp) scaled(by float64) hyperexp {
	return hyperexp{h.long * by, h.short * by, h.pShort}
}

type weibull struct{ shape, scale float64 }

func (w weibull) mean() float64 { return w.scale * math.Gamma(1+1/w.shape) }

func (w weibull) draw(rng *rand.Rand) float64 {
	return w.scale * math.Pow(rng.ExpFloat64(), 1/w.shape)
}

func (w weibull) residual(rng *rand.Rand) float64 {
	// With x drawn in proportion to its length, (x/scale)^shape is Gamma(1+1/shape).
	return rng.Float64() * w.scale * math.Exp(logGamma(rng, 1+1/w.shape)/w.shape)
}

type lognormal struct{ mu, sigma float64 }

func (l lognormal) mean() float64 { return math.Exp(l.mu + l.sigma*l.sigma/2) }

func (l lognormal) draw(rng *rand.Rand) float64 {
	return math.Exp(l.mu + l.sigma*rng.NormFloat64())
}

func (l lognormal) residual(rng *rand.Rand) float64 {
	return rng.Float64() * math.Exp(l.mu+l.sigma*l.sigma+l.sigma*rng.NormFloat64())
}

// logGamma draws the logarithm of a Gamma(shape, 1) number (Marsaglia and Tsang
// 2000); the logarithm because small shapes underflow.
func logGamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return logGamma(rng, shape+1) + math.Log(1-rng.Float64())/shape
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}

// beta draws a Beta(a, b) number.
func beta(rng *rand.Rand, a, b float64) float64 {
	return 1 / (1 + math.Exp(logGamma(rng, b)-logGamma(rng, a)))
}

// mark notes a state of a host hours after from, on the whole second, not
// after to.
func mark(h *History, from, to time.Time, hours float64, s State) error {
	at := to
	if limit := to.Sub(from).Hours(); hours < limit {
		at = from.Add(time.Duration(math.Round(hours*3600)) * time.Second)
	}
	return h.Append(at, s, 1)
}

// renew writes an alternating renewal process from one time to another; the
// first interval is of the given state and length in hours.
func renew(h *History, from, to time.Time, up bool, first float64, then lengths) error {
	end := to.Sub(from).Hours()
	length := first
	for at := 0.0; at < end; {
		s := Unavailable
		if up {
			s = Available
		}
		if err := mark(h, from, to, at, s); err != nil {
			return err
		}
		at += length
		up = !up
		length = then.next(up, at)
	}
	trim(h, to)
	return nil
}

// trim ends a host's record at to, dropping a spell that would only begin
// there.
func trim(h *History, to time.Time) {
	if n := len(h.changes); n > 1 && h.changes[n-1].at == to.UnixMilli() {
		h.changes = h.changes[:n-1]
	}
	h.Extend(to)
}

// eachDay calls f for every day's window of a trace, leaving the time between
// windows unobserved.
func eachDay(h *History, t *Trace, f func(from, to time.Time) error) error {
	for from := t.Start; from.Before(t.End); from = from.Add(day) {
		to := from.Add(t.Window.Length())
		if err := f(from, to); err != nil {
			return err
		}
		if t.Window.Whole() || !to.Before(t.End) {
			continue
		}
		if err := h.Gap(to); err != nil {
			return err
		}
	}
	return nil
}
