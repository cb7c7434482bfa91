package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// surelyFound is how many lies about results are found, one of them, but by a rare chance.
	surelyFound = 3
	// toldWrong is a part of what `godwit status` says to the owner of a machine that errs.
	toldWrong = "of this machine were found wrong"
	// saysOutvoted, saysRefusing and saysRefused are what a submitter's log says.
	saysOutvoted = "task outvoted"
	saysRefusing = "begins at nothing"
	saysRefused  = "task refused"
	saysNone     = "task no result"
	saysUnserved = "runs again as a whole"
	saysBrought  = "task brought by a worker"
	saysUnaided  = "task run by its submitter"
)

// A naming is what is said of one peer.
type naming struct {
	job   *checkedJob // of the first task that names it; nil for none
	task  int
	times int // results of it that were found wrong
	kept  int // that are wrong, and held still
}

// judgeNames checks who is named, and the first proof against each.
func (t *trial) judgeNames(ctx context.Context, jobs []*checkedJob, crowd []liar) {
	by, honest := map[string]*naming{}, ""
	hoarded := slices.ContainsFunc(crowd, func(l liar) bool { return l.hoards() })
	of := func(peer string) *naming {
		if by[peer] == nil {
			by[peer] = &naming{}
		}
		return by[peer]
	}
	liar := func(peer string) *liar {
		if k := slices.IndexFunc(crowd, func(l liar) bool { return l.peer == peer }); k >= 0 {
			return &crowd[k]
		}
		return nil
	}
	for _, j := range jobs {
		for _, k := range j.st.List {
			if j.wrong[k.Index] && k.Result != nil {
				of(k.Result.Workers[0]).kept++
			}
			w := k.Refuted
			if w == nil {
				continue
			}
			who := liar(w.By)
			switch {
			case w.By == "" && liar(w.Signed) != nil: // nobody is named; whose it is only this program knows
				of(w.Signed).times++
			case who == nil || who.ends != named:
				honest += fmt.Sprintf("; task %d of %s names %q: %s", k.Index, j.name, w.By, w.Why)
			default:
				if n := of(w.By); n.job == nil {
					n.job, n.task = j, k.Index
				}
				of(w.By).times++
			}
		}
	}
	t.report.expect("nobody is named who does not lie", honest == "", "%.500s", honest)
	for i := range crowd {
		t.judgeLiar(ctx, jobs, &crowd[i], of(crowd[i].peer), hoarded)
	}
	t.judgeOutvoted(jobs[0].at, crowd)
}

// judgeLiar checks what became of one that lies. Where the leader hoards, nobody hears of some of its lies: they need
// not be found.
func (t *trial) judgeLiar(ctx context.Context, jobs []*checkedJob, l *liar, n *naming, hoarded bool) {
	ran := 0
	for _, j := range jobs {
		ran += j.st.ran(l.peer)
	}
	told := l.told()
	if l.name == liesParts { // it cannot count itself: the guest runs walled in
		told = jobs[0].st.ran(l.peer)
	}
	lies := fmt.Sprint(told)
	if l.name == errsBits { // a machine that errs knows nothing of it
		lies = "unknown"
	}
	t.report.show(fmt.Sprintf("%q, node %d: %s", l.name, l.index, l.what), "", "%d results; lies: %s, found %d, held %d",
		ran, lies, n.times, n.kept)
	who := fmt.Sprintf("the liar %q (node %d)", l.name, l.index)
	log := jobs[0].at.log
	switch {
	case l.ends == unblamed:
		found := slices.ContainsFunc(jobs, func(j *checkedJob) bool { return j.st.Checks.Divergent == errsOn() })
		t.report.expect("a compiler that errs is found, and nobody is blamed", !t.lied.lends ||
			found == (n.times > 0) && (ran == 0 || found), "divergent: %v; %d of its results are wrong, of %d", found,
			n.times, ran)
	case l.name == liesRefuse:
		nothing := linesWith(log, saysRefusing, l.peer)
		t.report.show("  loses standing", "", "%d whole runs in place of parts; begins at nothing %d times",
			linesWith(log, saysUnserved), nothing)
		if told >= surelyFound && t.lied.lends {
			t.report.expect(who+" begins at nothing, and is not named", nothing > 0, "it refused %d times", told)
		}
	case l.name == liesLead:
		t.report.show("  its word is not taken", "", "%d results that it changed, or others than were asked for",
			linesWith(log, saysRefused, l.peer))
	case l.hoards():
		// That both jobs end is a promise of its own. Nobody has to bring what the leader ran itself in the end.
		if l.name == liesKeep {
			own := linesWith(l.count, "kept of "+l.peer)
			t.report.show("  of its own, which the submitter runs itself", "", "%d; it kept %d", linesWith(log, saysUnaided),
				own)
			t.report.expect("what a leader keeps of its own runs does not keep a job from ending", own > 0, "it kept none: it "+
				"tests nothing")
		}
		t.report.show("  what it has, workers bring", "", "%d times; it kept %d", linesWith(log, saysBrought), told)
	case l.name == hideTrail, l.name == hideEngine:
		t.report.show("  what it gives is no result", "", "%d times", linesWith(log, saysNone, l.peer))
		t.report.expect(who+" is kept away, and nothing of it is held wrong", n.kept == 0 &&
			(ran < surelyFound || linesWith(log, saysNone, l.peer) > 0 || !t.lied.lends && l.name == hideTrail),
			"%d are held, of %d", n.kept, ran)
	case n.job != nil:
		t.report.must(who+" is named, and where no node runs the proof holds", t.proves(ctx, n.job.job, n.task, l.peer))
	case told >= surelyFound && t.lied.lends && !hoarded:
		t.report.expect(who+" is named", false, "it told %d lies", told)
	case l.name != errsBits:
		t.report.show("  told too few lies to be found for sure", "", "%d", told)
	}
}

// judgeOutvoted says who was outvoted, where others compared.
func (t *trial) judgeOutvoted(at *node, crowd []liar) {
	var lied, honest int
	for _, n := range t.nodes {
		if linesWith(at.log, saysOutvoted, n.peer) == 0 {
			continue
		}
		if slices.ContainsFunc(crowd, func(l liar) bool { return l.node == n && l.ends != standing }) {
			lied++
		} else {
			honest++
		}
	}
	t.report.show("outvoted, and not named: of liars, of others", "", "%d, %d", lied, honest)
	t.report.expect("nobody is outvoted who does not lie", honest == 0, "%d are", honest)
}

// judgeTold checks whose owners are told that their machines err: theirs whose results were found
// wrong, and nobody else's.
func (t *trial) judgeTold(ctx context.Context, jobs []*checkedJob) {
	blamed := map[string]bool{}
	for _, j := range jobs {
		for _, k := range j.st.List {
			if k.Refuted != nil {
				blamed[k.Refuted.By] = true
			}
		}
	}
	var wrong []string
	for _, n := range t.nodes {
		said, err := n.verb(ctx, "status")
		if told := strings.Contains(said, toldWrong); err != nil || told != blamed[n.peer] {
			wrong = append(wrong, fmt.Sprintf("node %d: told %v, named %v, %v", n.index, told, blamed[n.peer], err))
		}
	}
	t.report.expect("the owners of the machines named are told, nobody else's", len(wrong) == 0, "%v", wrong)
}

// proves saves a proof at the submitter and has it checked with another user's directories.
func (t *trial) proves(ctx context.Context, j *job, index int, peer string) error {
	file := filepath.Join(t.dir, fmt.Sprintf("%s%d.proof", j.name, index))
	if _, err := j.at.verb(ctx, "proof", "save", j.id, fmt.Sprint(index), "--out", file); err != nil {
		return err
	}
	said, err := t.elsewhere(ctx, "proof", "check", file, "--json")
	if err != nil {
		return err
	}
	var f struct{ Verdict, By string }
	switch err := json.NewDecoder(strings.NewReader(said)).Decode(&f); {
	case err != nil:
		return err
	case f.Verdict != "proven" || f.By != peer:
		return errors.New("it finds " + said)
	}
	return nil
}
