package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Seconds of a few hosts: what each was doing. Tables are written from them in the most
// literal way.
type seconds [][]State

// drawSeconds draws hosts that are only ever in some states. The first is there from the
// beginning to the end, so that the table spans all.
func drawSeconds(t *rapid.T, states ...State) seconds {
	n := rapid.IntRange(1, 60).Draw(t, "seconds")
	all := seconds{slices.Repeat([]State{Available}, n)}
	for range rapid.IntRange(1, 3).Draw(t, "hosts") {
		row := make([]State, 0, n)
		for len(row) < n {
			s := rapid.SampledFrom(states).Draw(t, "state")
			length := rapid.IntRange(1, 20).Draw(t, "length")
			row = append(row, slices.Repeat([]State{s}, min(length, n-len(row)))...)
		}
		all = append(all, row)
	}
	return all
}

// A stretch is seconds of one host in one state, as long as it lasted or a part of that.
type stretch struct {
	host, from, to int
	state          State
}

// stretches cuts all seconds into rows, now and then in the middle of a spell. Rows of
// one host are in order, hosts are mixed.
func (s seconds) stretches(t *rapid.T) []stretch {
	var out []stretch
	next := make([]int, len(s))
	for {
		var left []int
		for host := range s {
			if next[host] < len(s[host]) {
				left = append(left, host)
			}
		}
		if len(left) == 0 {
			return out
		}
		host := rapid.SampledFrom(left).Draw(t, "host")
		from := next[host]
		to := from + 1
		for to < len(s[host]) && s[host][to] == s[host][from] && rapid.IntRange(0, 9).Draw(t, "cut") > 0 {
			to++
		}
		out = append(out, stretch{host, from, to, s[host][from]})
		next[host] = to
	}
}

// agree reads a table and looks up every second of every host.
func (s seconds) agree(t *rapid.T, name, text string) {
	tr, err := Read(name, strings.NewReader(text), ReadOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	rows := map[string]*History{}
	for _, h := range tr.Hosts {
		rows[h.History.Host] = h.History
	}
	for host, row := range s {
		h := rows[fmt.Sprint("h", host)]
		for sec, want := range row {
			got := Unobserved
			if h != nil {
				got = stateAt(h, tr.Start.Add(time.Duration(sec)*time.Second+time.Second/2))
			}
			if got != want {
				t.Fatalf("host %d is %v in second %d, the table says %v:\n%s", host, got, sec, want, text)
			}
		}
	}
}

// TestTablesAgreeWithSeconds: each table says of each second what was written of it,
// whatever order the hosts' rows are in and wherever spells are cut.
func TestTablesAgreeWithSeconds(t *testing.T) {
	for _, c := range []struct {
		name   string
		states []State
		header string
		row    func(stretch) string // "" for one that the table leaves out
	}{
		{"spells.csv", []State{Unavailable, Available, UserPresent, CPUBusy, Leaving, Unobserved},
			"host,start_s,end_s,state\n", func(r stretch) string {
				if r.state == Unobserved {
					return ""
				}
				return fmt.Sprintf("h%d,%d,%d,%s\n", r.host, r.from, r.to, r.state)
			}},
		{"sessions.csv", []State{Available, Unavailable}, "host,start_s,end_s\n", func(r stretch) string {
			if r.state != Available {
				return fmt.Sprintf("h%d,,\n", r.host)
			}
			return fmt.Sprintf("h%d,%d,%d\n", r.host, r.from, r.to)
		}},
		{"changes.csv", []State{Unavailable, UserPresent, Available}, "# end: 1970-01-01T00:02:00Z\nhost,start_s,state\n",
			func(r stretch) string {
				return fmt.Sprintf("h%d,%d,%d\n", r.host, r.from, slices.Index(phoneStates[:], r.state))
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSeconds(t, c.states...)
				text := c.header
				for _, r := range s.stretches(t) {
					text += c.row(r)
				}
				s.agree(t, c.name, text)
			})
		})
	}
}

// TestLineErrorIsItsCause: whoever asks what is wrong with a line gets the answer.
func TestLineErrorIsItsCause(t *testing.T) {
	cause := errors.New("a cause")
	err := fmt.Errorf("reading: %w", &LineError{File: "a.csv", Line: 7, Err: cause})
	if !errors.Is(err, cause) || err.Error() != "reading: a.csv:7: a cause" {
		t.Errorf("got %v, is its cause %v", err, errors.Is(err, cause))
	}
	if got := (&LineError{Line: 7, Err: cause}).Error(); got != "line:7: a cause" {
		t.Errorf("without a file: %q", got)
	}
}

// TestMeansOfLaws: the mean of a law is the integral of its survival function, here up to
// where next to nothing survives; and a fit's mean is told for both families.
func TestMeansOfLaws(t *testing.T) {
	for _, l := range Laws() {
		for _, lognormals := range []bool{false, true} {
			up, down := l.MeanHours(lognormals)
			upLaw, downLaw := l.laws(lognormals)
			for _, c := range []struct {
				name string
				got  float64
				law  law
			}{{"up", up, upLaw}, {"down", down, downLaw}} {
				end := c.got
				for survival(c.law, end)*end > 1e-5*c.got {
					end *= 2
				}
				// Pieces that double: one sweep would be too coarse for a heavy tail.
				want, from := integrate(func(x float64) float64 { return survival(c.law, x) }, c.got), c.got
				for from < end {
					step := from / 1000
					for x := from; x < 2*from; x += step {
						want += survival(c.law, x+step/2) * step
					}
					from *= 2
				}
				if math.Abs(c.got/want-1) > 0.005 {
					t.Errorf("%s, lognormals %v: mean %s %.5g h, by the integral %.5g", l.Name, lognormals, c.name, c.got, want)
				}
			}
		}
	}
}
