package node

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"godwit/trace"
)

// phonesFile is one of the real sets that lie beside the project: 200 phones for
// 6.2 days, unavailable, of light use or free for tasks.
const phonesFile = "../../shared/data/phones/availability_3state_batt50.csv.gz"

// A churnSize is how much of the phones' record is replayed.
type churnSize struct {
	nodes  int
	length time.Duration
	seed   uint64
}

func (s churnSize) String() string { return fmt.Sprintf("%d %s %d", s.nodes, s.length, s.seed) }

// churnSizeOf reads "nodes length [seed]".
func churnSizeOf(t *testing.T, text string) churnSize {
	t.Helper()
	var s churnSize
	var length string
	n, _ := fmt.Sscan(text, &s.nodes, &length, &s.seed)
	if n == 2 {
		s.seed = 1
	}
	var err error
	if s.length, err = time.ParseDuration(length); n < 2 || err != nil || s.nodes < 3 || s.length < time.Minute {
		t.Fatalf("GODWIT_CHURN is %q, want for example %q: nodes, how long, a seed", text, "50 48h 1")
	}
	return s
}

func readPhones(t *testing.T) *trace.Trace {
	t.Helper()
	f, err := os.Open(phonesFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there", phonesFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := trace.Read(phonesFile, f, trace.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// phoneScript chooses a part of the record and hosts that change within it, and
// returns what becomes of them, in order.
func phoneScript(t *testing.T, tr *trace.Trace, size churnSize) []change {
	t.Helper()
	rng := rand.New(rand.NewPCG(size.seed, 0))
	room := tr.End.Sub(tr.Start) - size.length
	if room < 0 {
		t.Fatalf("the record has %v", tr.End.Sub(tr.Start))
	}
	from := tr.Start.Add(time.Duration(rng.Int64N(int64(room + 1))))
	to := from.Add(size.length)
	var script []change
	var chosen [][]change
	for _, i := range rng.Perm(len(tr.Hosts)) {
		chosen = append(chosen, during(tr.Hosts[i].History, from, to))
	}
	// first those that change
	slices.SortStableFunc(chosen, func(a, b []change) int { return min(len(b), 2) - min(len(a), 2) })
	if len(chosen) < size.nodes {
		t.Fatalf("the record has %d phones", len(chosen))
	}
	for host, changes := range chosen[:size.nodes] {
		for _, c := range changes {
			c.host = host
			script = append(script, c)
		}
	}
	slices.SortStableFunc(script, func(a, b change) int { return int(a.at - b.at) })
	return script
}

// during lists the states of a history from one time to another, the first of
// them at its beginning.
func during(h *trace.History, from, to time.Time) []change {
	var out []change
	for i := max(0, h.Find(from)); i < h.Len(); i++ {
		s := h.Spell(i)
		if !s.Start.Before(to) {
			break
		}
		if s.State == trace.Unobserved {
			s.State = trace.Unavailable
		}
		out = append(out, change{at: max(0, s.Start.Sub(from)), state: s.State})
	}
	return out
}

// Nodes come and go as phones were plugged in and out, and stop working while
// their owners use them: every job that was accepted ends, each of its results is
// held once, and the copies of the ledger are equal in the end. The default is half
// an hour; GODWIT_CHURN="50 48h 1" replays two days of fifty phones, with a seed.
func TestChurnOfPhones(t *testing.T) {
	if raceEnabled {
		t.Skip("takes half a minute under the race detector; scripts/test runs it without")
	}
	size := churnSize{12, 30 * time.Minute, 6}
	if text := os.Getenv("GODWIT_CHURN"); text != "" {
		size = churnSizeOf(t, text)
	}
	script := phoneScript(t, readPhones(t), size)
	begun := time.Now() // the bubble has a clock of its own
	synctest.Test(t, func(t *testing.T) { replayPhones(t, script, size) })
	t.Logf("%v took %v", size, time.Since(begun).Round(time.Second))
	if t.Failed() {
		t.Logf("to repeat it: GODWIT_CHURN=%q go test ./node -run '^TestChurnOfPhones$' -v", size)
	}
}

// mostLeaderless bounds how long an overlay of nodes that have settled may be
// without a leader that most of them follow.
const mostLeaderless = 15 * time.Second

// tellLeaderless is what is told in detail: one crash heals faster.
const tellLeaderless = 5 * time.Second

func replayPhones(t *testing.T, script []change, size churnSize) {
	c := newChurn(t, size.nodes, size.seed)
	c.replay(script, size.length)
	end := time.Now()
	sum := c.finishAll()
	took := time.Since(end)
	c.until("all copies of the ledger are equal", func() bool { return c.sameLedger(3) })
	r := c.book.report(end)
	t.Logf("%d phones for %v: %+v", size.nodes, size.length, c.counts)
	t.Logf("%d jobs were handed in: %+v; tasks were run again %d times; the last ended %v after all phones were back",
		len(c.jobs), sum, c.reruns(), took.Round(time.Second))
	t.Logf("\n%v", r)
	for _, line := range c.warned() {
		t.Log(line)
	}
	if sum.accepted == 0 {
		t.Error("no job was accepted")
	}
	longest := slices.Max(append(r.leaderless, 0))
	if longest > mostLeaderless {
		t.Errorf("%v without a leader", longest)
	}
	if longest > tellLeaderless {
		for _, line := range c.book.story(r.longest.Add(-tellLeaderless), r.longest.Add(longest)) {
			t.Log(line)
		}
	}
}
