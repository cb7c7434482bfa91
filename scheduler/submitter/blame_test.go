package submitter

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A wayTo is how a task came to its wrong end: worker 9 signed it.
type wayTo struct {
	receipt  bool
	left     []int // who left the states that it went on from, the last first
	cut      bool  // there were more before them
	attempts []int
}

// result is the wrong one; the state at fuel n has the hash n times 32, if it is right.
func (w wayTo) result(b *auditBench) task.Result {
	r := b.ran(9, 0, "wrong")
	if w.receipt {
		r.Receipt = &task.Receipt{Epoch: 1}
	}
	r.Trail = &task.Trail{Pass: 1, Fuel: 100}
	for k, n := range w.left {
		_, peer := schedtest.Identity(n)
		fuel := 10 * uint64(len(w.left)-k)
		r.Trail.Began = append(r.Trail.Began, task.Link{Fuel: fuel, Voucher: task.Voucher{Worker: peer,
			Hash: hashAt(fuel)}})
	}
	if w.cut {
		r.Trail.Began[len(w.left)-1].Voucher.Prior = hashAt(1)
	}
	return r
}

func hashAt(fuel uint64) []byte { return bytes.Repeat([]byte{byte(fuel)}, 32) }

// comes has this machine come to a state at each fuel that it is asked for, until the audit is
// over: the right one, but where wrong says so.
func (b *auditBench) comes(wrong func(a message.Audit) []byte) {
	for len(b.audits) > 0 && b.audits[0].Task.Index == 0 {
		b.answer(func(a message.Audit) task.Result {
			if a.StopAt == 0 {
				r := b.says(truth)(a)
				r.Trail = &task.Trail{Pass: 1, Fuel: 100}
				return r
			}
			state := hashAt(a.StopAt)
			if w := wrong(a); w != nil {
				state = w
			}
			return task.Result{Task: a.Task, Outcome: task.Interrupted,
				Trail: &task.Trail{Pass: 1, Fuel: a.StopAt, Last: state}}
		})
	}
}

// Who is named for a wrong end is who went wrong, by what each has signed; where that cannot be
// told it is nobody, and what all of them did is run again.
func TestWhoIsNamed(t *testing.T) {
	differsAt := func(fuel uint64) func(message.Audit) []byte {
		return func(a message.Audit) []byte {
			if a.StopAt == fuel {
				return []byte("another state")
			}
			return nil
		}
	}
	right := differsAt(0)
	erring := func(a message.Audit) []byte {
		if a.Interpreted {
			return []byte("interpreted")
		}
		return []byte("compiled")
	}
	for name, tt := range map[string]struct {
		way   wayTo
		comes func(message.Audit) []byte
		named []int
	}{
		"alone":                       {wayTo{}, right, []int{9}},
		"by its own log":              {wayTo{attempts: []int{9}}, right, []int{9}},
		"after another, no receipts":  {wayTo{attempts: []int{5, 9}}, right, nil},
		"after another, from nothing": {wayTo{receipt: true, attempts: []int{5, 9}}, right, []int{9}},
		"from a good state":           {wayTo{receipt: true, left: []int{5}}, right, []int{9}},
		"from a bad state":            {wayTo{receipt: true, left: []int{5}}, differsAt(10), []int{5}},
		"the first of three is bad":   {wayTo{receipt: true, left: []int{5, 6, 7}}, differsAt(10), []int{7}},
		"the second is":               {wayTo{receipt: true, left: []int{5, 6, 7}}, differsAt(20), []int{6}},
		"the last is":                 {wayTo{receipt: true, left: []int{5, 6, 7}}, differsAt(30), []int{5}},
		"it went wrong before that":   {wayTo{receipt: true, left: []int{5, 6, 7, 8}, cut: true}, differsAt(10), nil},
		"not before that":             {wayTo{receipt: true, left: []int{5, 6, 7, 8}, cut: true}, differsAt(20), []int{7}},
		"this machine errs":           {wayTo{receipt: true, left: []int{5}}, erring, nil},
	} {
		b := newAuditBench(t, 20, "full")
		for w := 5; w <= 9; w++ { // as if nobody had run these again
			_, peer := schedtest.Identity(w)
			b.s.jobs[b.id].checks.accept(peer, uint64(w), credibility.Mark{}, "")
			b.s.jobs[b.id].have.Add(uint64(w))
		}
		var attempts []message.AttemptLog
		for _, n := range tt.way.attempts {
			_, peer := schedtest.Identity(n)
			attempts = append(attempts, message.AttemptLog{Worker: peer})
		}
		b.deliver(0, attempts, tt.way.result(b))
		b.comes(tt.comes)
		if c := b.checks(); c.Wrong != 1 || string(b.held(0).Results[0].Outputs[0].Inline) != truth {
			t.Errorf("%s: %+v, and held is %+v", name, c, b.held(0))
		}
		by := task.PeerID("")
		if len(tt.named) > 0 {
			_, by = schedtest.Identity(tt.named[0])
		}
		if w := b.held(0).Refuted; w == nil || w.By != by || string(w.Result.Outputs[0].Inline) != "wrong" ||
			!strings.HasPrefix(w.Why, "stdout has other bytes here") {
			t.Errorf("%s: refuted is %+v", name, w)
		}
		for w := 5; w <= 9; w++ {
			_, peer := schedtest.Identity(w)
			had := w == 9 || slices.Contains(tt.way.left, w) || slices.Contains(tt.way.attempts, w)
			named, doubted := slices.Contains(tt.named, w), b.s.jobs[b.id].checks.doubted.Contains(uint64(w))
			back := !b.s.jobs[b.id].have.Contains(uint64(w))
			if b.s.audits.known(peer).Faults > 0 != named || back != named || doubted != (len(tt.named) == 0 && had) {
				t.Errorf("%s: worker %d: %+v, doubted %v, given back %v", name, w, b.s.audits.known(peer), doubted, back)
			}
		}
	}
}

// awaitAudit lets time pass until a task is to run again.
func (b *auditBench) awaitAudit() {
	for len(b.audits) == 0 {
		b.wait()
	}
}

// A task that is traced is left alone while its machine is taken back, and forgotten with its job.
func TestTracingGoesOn(t *testing.T) {
	way := wayTo{receipt: true, left: []int{5, 6}}
	b := newAuditBench(t, 20, "full")
	b.deliver(0, nil, way.result(b))
	for range 2 { // compiled, and interpreted
		b.answer(b.says(truth))
	}
	if a := b.audits[0]; a.StopAt != 10 || a.Interpreted {
		t.Fatalf("it is traced by %+v", a)
	}
	for range auditTries + 3 {
		b.answer(b.ends(task.Interrupted))
		b.awaitAudit()
	}
	if a := b.audits[0]; a.StopAt != 10 {
		t.Fatalf("then by %+v", a)
	}
	b.restart() // nothing of it is kept: it begins anew
	b.audits = nil
	b.look()
	if a := b.audits[0]; a.StopAt != 0 || b.checks().Due != 1 {
		t.Fatalf("after a restart by %+v", a)
	}
	b.comes(func(message.Audit) []byte { return nil })
	_, signer := schedtest.Identity(9)
	if c := b.checks(); c.Wrong != 1 || b.s.audits.known(signer).Faults != 1 {
		t.Errorf("%+v, %+v", c, b.s.audits.known(signer))
	}

	b = newAuditBench(t, 20, "full")
	b.deliver(0, nil, way.result(b))
	for range 2 {
		b.answer(b.says(truth))
	}
	for range auditTries {
		b.awaitAudit()
		b.answer(b.ends(task.HostError))
	}
	if c := b.checks(); c.Wrong != 1 || b.s.audits.known(signer).Faults != 0 {
		t.Errorf("where it does not run: %+v, %+v", c, b.s.audits.known(signer))
	}
}
