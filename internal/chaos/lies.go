package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A lie is a way in which a node lies, or errs: node/exec/liar.go, node/liar.go and
// sandbox/mishap_liars.go do it.
type lie struct {
	name string
	what string
	ends lieEnd
}

// A lieEnd is what is to become of a liar.
type lieEnd uint8

const (
	named    lieEnd = iota // with a proof that holds where no node runs
	standing               // nothing that it signed is wrong: it loses standing, or its word is not taken
	unblamed               // it is a machine that errs, and nobody is to be named
)

const (
	liesLead   = "leader"   // the node that leads
	liesHoard  = "hoarder"  // that one, too
	liesKeep   = "selfish"  // that one, too: it keeps what it runs itself
	liesParts  = "interval" // only long tasks have parts
	liesRefuse = "refusing"
	errsBits   = "bit"
	errsEngine = "engine"
	hideTrail  = "trailless"
	hideEngine = "nowhere"
)

// errsOn is the architecture that the machine with that compiler says it has.
func errsOn() string {
	if runtime.GOARCH == "arm64" {
		return "amd64"
	}
	return "arm64"
}

// lies are all ways.
var lies = []lie{
	{"lazy", "makes results up", named},
	{"one", "has a wrong bit in every fifth result", named},
	{"late", "lies after ten honest results", named},
	{"agreed", "says what others of its kind say, as an auditor too", named},
	{liesParts, "goes wrong in one part of each long task, and signs the trail", named},
	{"auditor", "is honest, and says something else where it seems to be asked to compare", named},
	{liesRefuse, "refuses the states that it signed", standing},
	{liesLead, "leads, holds results back, changes some, and lets anybody compare", standing},
	{liesHoard, "leads, and says of some results that it has them, which nobody ever gets", standing},
	{liesKeep, "leads, and says so of some of what others and it ran itself: nobody can bring that", standing},
	{hideTrail, "signs no trail", standing},
	{hideEngine, "lies, and says that an engine made it that nobody has", standing},
	{errsBits, "its memory loses bits", named},
	{errsEngine, "its compiler errs", unblamed},
}

// crowds are who lies together, four of twelve: by the seed, so that five in a row have all ways.
var crowds = [][]string{
	{"lazy", "one", hideTrail, "agreed"},
	{"late", liesParts, liesRefuse, liesLead},
	{"auditor", "agreed", "agreed", liesParts},
	{hideEngine, "auditor", liesHoard, errsBits},
	{"one", "late", liesRefuse, errsEngine},
}

// leads reports whether who lies so leads at first.
func (l lie) leads() bool { return l.name == liesLead || l.hoards() }

// hoards reports whether who leads keeps results for good.
func (l lie) hoards() bool { return l.name == liesHoard || l.name == liesKeep }

// lieNames lists them for people.
func lieNames() string {
	var out []string
	for _, l := range lies {
		out = append(out, l.name)
	}
	return strings.Join(out, ", ")
}

// lieOf returns a way by its name.
func lieOf(name string) (lie, bool) {
	k := slices.IndexFunc(lies, func(l lie) bool { return l.name == name })
	if k < 0 {
		return lie{}, false
	}
	return lies[k], true
}

// kindsOf reads who lies: names with commas between them, or the seed's crowd where there are none.
func kindsOf(names string, seed uint64) ([]lie, error) {
	crowd := crowds[seed%uint64(len(crowds))]
	if names != "" {
		crowd = strings.Split(names, ",")
	}
	var out []lie
	leaders := 0
	for _, name := range crowd {
		l, known := lieOf(strings.TrimSpace(name))
		if !known {
			return nil, fmt.Errorf("--kinds: nobody lies like %q", name)
		}
		if l.leads() {
			leaders++
		}
		out = append(out, l)
	}
	if leaders > 1 {
		return nil, fmt.Errorf("--kinds: one node leads, not %d", leaders)
	}
	return out, nil
}

// A liar is a node that lies, or errs.
type liar struct {
	lie
	*node
	count string // file with a line for each lie that it told
}

// appoint has some of the nodes lie: the first, which leads at first, where one does that; of the others
// anybody but the last, which submits.
func (t *trial) appoint(kinds []lie, rng *rand.Rand) (out []liar) {
	places := rng.Perm(len(t.nodes) - 2)
	for _, kind := range kinds {
		n := t.nodes[0]
		if !kind.leads() {
			n, places = t.nodes[1+places[0]], places[1:]
		}
		l := liar{kind, n, filepath.Join(t.dir, fmt.Sprintf("node%d.lies", n.index))}
		n.binary, n.launch = t.liar, []string{"env", lieEnv + "=" + kind.name, liedEnv + "=" + l.count}
		out = append(out, l)
	}
	return out
}

// told is how many lies it told, by its own count.
func (l *liar) told() int { return linesWith(l.count, "") }

// linesWith counts the lines of a file that have all of some texts; 0 where there is no file.
func linesWith(file string, texts ...string) (n int) {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	const longest = 1 << 20
	s := bufio.NewScanner(f)
	s.Buffer(nil, longest)
	for s.Scan() {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(s.Text(), text) }) {
			n++
		}
	}
	return n
}
