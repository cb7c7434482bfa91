package trace

import (
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"
	"time"
)

// rhythms are some that can be had, of short and long intervals, by day and by night.
var rhythms = []string{"ucb:rhythm=day", "sdsc:rhythm=day", "lri:rhythm=day", "deug:rhythm=day",
	"skype06:rhythm=day,swing=0.1,peak=14", "overnet03:rhythm=day,swing=0.15,peak=20",
	"nd07cpu-lognormal:rhythm=day,swing=0.03,peak=3.5", "microsoft99:rhythm=day,swing=0.03,peak=0"}

// TestRhythmsSwing: hosts of a seed of their own go by as much as was asked, at the hour asked.
func TestRhythmsSwing(t *testing.T) {
	for _, kind := range rhythms {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			_, r, err := readSynth(kind)
			if err != nil {
				t.Fatal(err)
			}
			tr := synth(t, kind, SynthConfig{Hosts: 5000, Days: 7, Seed: 11})
			curve := describe(t, tr).AtOnce.ByTime
			first, n := complex128(0), float64(len(curve))
			for i, v := range curve {
				first += complex(2*v/n/float64(len(tr.Hosts)), 0) * cmplx.Exp(complex(0, 2*math.Pi*(float64(i)+.5)/n))
			}
			window := tr.Window.Length().Hours()
			want := complex(r.swing, 0) * cmplx.Exp(complex(0, 2*math.Pi*(r.peak-tr.Window.From.Hours())/window))
			t.Logf("swing %.4f at %.1f h, want %.4f", cmplx.Abs(first),
				math.Mod(cmplx.Phase(first)/2/math.Pi*window+window, window)+tr.Window.From.Hours(), r.swing)
			// What 5,000 hosts differ by chance, beside what the fit may be off.
			if off := cmplx.Abs(first - want); off > 0.004+0.1*r.swing {
				t.Errorf("the share's first harmonic is %.4f, want %.4f", first, want)
			}
		})
	}
}

// TestRhythmsKeepLaws: the lengths of intervals are as without a rhythm, by the test of
// Kolmogorov and Smirnov at the level of 1 in 100, both as they come from the urns and as
// whole ones are seen in a record.
func TestRhythmsKeepLaws(t *testing.T) {
	const level = 1.63 // of the statistic, times the root of the sample's size
	for _, kind := range rhythms[4:] {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g, r, err := readSynth(kind)
			if err != nil {
				t.Fatal(err)
			}
			w, err := g.fitWave(r)
			if err != nil {
				t.Fatal(err)
			}
			l := Laws()[slices.IndexFunc(Laws(), func(l Law) bool {
				return strings.ToLower(l.Name) == strings.TrimSuffix(g.kind, "-lognormal")
			})]
			up, down := l.laws(strings.HasSuffix(g.kind, "-lognormal"))
			var drawn [2][]float64
			then, at := w.lengths(up, down, hostRand("laws", 3, 0)), 0.0
			for i := range 40_000 {
				length := then.next(i%2 == 0, at)
				drawn[i%2] = append(drawn[i%2], length)
				at += length
			}
			for i, law := range []law{up, down} {
				far := 0.0
				slices.Sort(drawn[i])
				n := float64(len(drawn[i]))
				for k, x := range drawn[i] {
					below := 1 - survival(law, x)
					far = max(far, math.Abs(below-float64(k)/n), math.Abs(below-float64(k+1)/n))
				}
				if far > level/math.Sqrt(n) {
					t.Errorf("%s: lengths are off their law by %.4f", []string{"up", "down"}[i], far)
				}
			}
			with := describe(t, synth(t, kind, SynthConfig{Hosts: 400, Days: 30, Seed: 5}))
			without := describe(t, synth(t, g.kind, SynthConfig{Hosts: 400, Days: 30, Seed: 6}))
			for name, pair := range map[string][2][]float64{"up": {with.Up.Hours, without.Up.Hours},
				"down": {with.Down.Hours, without.Down.Hours}} {
				a, b := float64(len(pair[0])), float64(len(pair[1]))
				if far := farthest(pair[0], pair[1]); far > level*math.Sqrt((a+b)/(a*b)) {
					t.Errorf("%s: whole intervals differ by %.4f from those without a rhythm", name, far)
				}
			}
		})
	}
}

// farthest is how much two sorted samples' distributions differ at the most.
func farthest(a, b []float64) (far float64) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x := min(a[i], b[j])
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
		far = max(far, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return far
}

// TestRhythmsOfLikeSets: with the published rhythm the sets are accepted as without, and what
// is available by time of day varies as was published: of SDSC and LRI less, whose hosts
// would have to leave more often than they do.
func TestRhythmsOfLikeSets(t *testing.T) {
	for kind, published := range map[string]float64{"ucb": 2.719, "sdsc": 54.375, "lri": 12.801, "deug": 254.822} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, c := range Acceptance(describe(t, synth(t, kind+":rhythm=day", SynthConfig{Hosts: 2000, Seed: 1}))) {
				if c.Pass == contrary(kind, c) {
					t.Errorf("%s: %.3f, published %.3f, passes %v", c.Figure, c.Obtained, c.Published, c.Pass)
				}
			}
			g, r, err := readSynth(kind + ":rhythm=day")
			if err != nil {
				t.Fatal(err)
			}
			w, err := g.fitWave(r)
			if err != nil {
				t.Fatal(err)
			}
			const seeds = 20
			variance := 0.0
			for seed := range uint64(seeds) {
				tr := g.frame(SynthConfig{Days: g.days, Start: g.start})
				for n := range g.hosts {
					h := Host{History: &History{}}
					if err := g.host(&h, tr, hostRand(g.kind, seed, n), w); err != nil {
						t.Fatal(err)
					}
					tr.Hosts = append(tr.Hosts, h)
				}
				variance += describe(t, tr).AtOnce.Variance / seeds
			}
			t.Logf("variance %.1f, published %.1f", variance, published)
			least := .75
			switch kind {
			case "sdsc":
				least = .5
			case "lri":
				least = .2
			}
			if variance < least*published || variance > 1.33*published {
				t.Errorf("the number available by time of day has a variance of %.1f, published %.1f", variance, published)
			}
		})
	}
}

// TestRhythmsDependOnNumbersAlone: as hosts without one.
func TestRhythmsDependOnNumbersAlone(t *testing.T) {
	for _, kind := range rhythms[1:6] {
		few := synth(t, kind, SynthConfig{Hosts: 2, Days: 2, Seed: 5})
		many := synth(t, kind, SynthConfig{Hosts: 3, Days: 4, Seed: 5})
		if !strings.HasPrefix(few.Synthetic, "generator "+strings.TrimSuffix(kind, "rhythm=day")) &&
			!strings.HasPrefix(few.Synthetic, "generator "+kind+", ") || !strings.Contains(few.Synthetic, "rhythm=day,swing=") {
			t.Errorf("%s: labelled %q", kind, few.Synthetic)
		}
		for i, h := range few.Hosts {
			for at := few.Start; at.Before(few.End); at = at.Add(97 * time.Second) {
				if a, b := stateAt(h.History, at), stateAt(many.Hosts[i].History, at); a != b {
					t.Fatalf("%s: host %d at %v is %v, and %v among more hosts and days", kind, i, at, a, b)
				}
			}
		}
	}
}

func TestRhythmsThatAreRefused(t *testing.T) {
	for kind, want := range map[string]string{
		"deug:rhythm=month":           "one of none, day",
		"deug:swing=0.1":              "add rhythm=day",
		"deug:rhythm=day,swing=0.6":   "from 0 to 0.5",
		"deug:rhythm=day,peak=25":     "from 0 to 24",
		"deug:rhythm=day,week=1":      "unknown parameter",
		"deug:rhythm":                 "NAME=VALUE",
		"office:rhythm=day":           "of its own",
		"skype06:rhythm=day":          "nothing is published",
		"pl05:rhythm=day,swing=0.5":   "is more than hosts can have",
		"lanl05:rhythm=day,swing=0.2": "is more than hosts can have",
	} {
		_, err := Synthesize(kind, SynthConfig{Hosts: 1, Days: 1})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", kind, err, want)
		}
	}
	for _, kind := range []string{"deug:rhythm=none", "deug-like:rhythm=day", "deug", "office"} {
		if err := CheckSynth(kind); err != nil {
			t.Error(err)
		}
	}
}

// TestWavesByHand: the sum of a wave is its integral, cut at the period's end where nothing is
// seen behind it; lengths of whole periods weigh the same at each hour.
func TestWavesByHand(t *testing.T) {
	for _, through := range []bool{false, true} {
		w := &wave{period: 12, through: through}
		w.set(complex(.3, -.2))
		for _, c := range []struct{ at, length float64 }{{0, 3}, {5, 4}, {10, 7}, {11.5, 30}, {3, 0}} {
			want, end := 0.0, c.at+c.length
			if !through {
				end = max(c.at, min(end, w.period))
			}
			const steps = 20_000
			for i := range steps {
				hour := c.at + (end-c.at)*(float64(i)+.5)/steps
				want += (.3*math.Cos(2*math.Pi*hour/12) - .2*math.Sin(2*math.Pi*hour/12)) * (end - c.at) / steps
			}
			if got := w.over(c.at, c.length); math.Abs(got-want) > 1e-6 {
				t.Errorf("through %v: from %v for %v the wave sums to %v, want %v", through, c.at, c.length, got, want)
			}
		}
		for kind := range towards {
			if got := w.usual(kind, 0); math.Abs(got) > 1e-9 {
				t.Errorf("through %v: no length weighs e^%v, want 1", through, got)
			}
			// Weights of a length have a logarithm above 0 in the mean, as the exponential is convex.
			if got := w.usual(kind, w.period/2); through && got <= 0 {
				t.Errorf("half a period weighs e^%v, want more than 1", got)
			}
			if got := w.usual(kind, w.period); through && math.Abs(got) > 1e-9 {
				t.Errorf("a period weighs e^%v, want 1", got)
			}
		}
	}
}
