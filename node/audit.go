package node

import (
	"context"
	"fmt"

	"godwit/member"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// audit answers an Audit of a machine's, on the loop. What is held is read first: a run that can
// be held against nothing would be for nothing.
func (d *driver) audit(ctx context.Context, m *membership, from member.Machine, e message.Audit) {
	if _, leads := from.(*scheduler.Coordinator); leads { // nothing is held of it yet
		d.exec.Audit(client{m}, e, nil, func(ev message.Audited) { m.step(from, ev) })
		return
	}
	if e.First {
		d.exec.Audit(client{m}, e, nil, func(ev message.Audited) { m.step(from, ev) })
		return
	}
	key := submitter.ResultKey(e.Task.Job, e.Task.Index)
	unwritten := m.unwritten(key)
	more := m.unwritten(submitter.OtherKeys(e.Task)[0])
	made := madeHere{m: m, job: e.Task.Job, spec: m.Submitter().Spec(e.Task.Job), unwritten: unwritten}
	d.spawn(func() {
		held, err := d.store.heldResult(ctx, m.prefix, key, unwritten)
		if err == nil {
			e.Reads, err = made.reads(ctx, d.store, e.Task.Index)
		}
		others := d.othersOf(ctx, m, e.Task, more)
		d.post(post{call: func() {
			answer := func(ev message.Audited) {
				ev.Held, ev.Others = held, others
				m.step(from, ev)
			}
			if err != nil {
				held = message.TaskSummary{}
				answer(message.Audited{Task: e.Task, Interpreted: e.Interpreted, StopAt: e.StopAt, Part: e.Part,
					Here: d.hostError(e.Task, fmt.Errorf("reading the result that is held, and what it was made of: %w", err))})
				return
			}
			var signed *task.Result
			if len(held.Results) > 0 {
				signed = &held.Results[0]
			}
			d.exec.Audit(client{m}, e, signed, answer)
		}})
	})
}

// hostError returns the signed result of a task that could not run here.
func (d *driver) hostError(id task.TaskID, err error) task.Result {
	d.log.Warn("a task cannot run again", "task", id.String(), "err", err)
	res := task.Result{Task: id, Worker: d.self, Outcome: task.HostError, Message: task.ClipMessage(err.Error())}
	if err := res.Sign(d.key); err != nil {
		d.log.Error("signing a result", "task", id.String(), "err", err)
	}
	return res
}

// othersOf reads what others came to of a task that they ran again, of which some is unwritten. What
// cannot be read has no say.
func (d *driver) othersOf(ctx context.Context, m *membership, id task.TaskID, unwritten map[string][]byte) (
	out []task.Result) {
	for _, key := range submitter.OtherKeys(id) {
		value, ok := unwritten[key]
		if !ok {
			value, _ = d.store.get(ctx, m.prefix+key)
		}
		if len(value) == 0 {
			break
		}
		if r, err := submitter.DecodeOther(value); err == nil {
			out = append(out, r)
		}
	}
	return out
}
