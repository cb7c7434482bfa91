package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// retiredBy is a replica with jobs that one leader gave it and another told it to forget, and
// the group it may ask.
func retiredBy(t *testing.T, jobs []task.Record, group ...int) *keeper {
	t.Helper()
	k := newKeeper(t)
	_, honest := schedtest.Identity(5)
	_, liar := schedtest.Identity(66)
	k.meets(honest, 10, true)
	k.copies(jobs...)
	var peers []task.PeerID
	for _, n := range group {
		_, p := schedtest.Identity(n)
		peers = append(peers, p)
	}
	k.step(message.GroupIs{Followers: peers})
	k.meets(liar, 20, false)
	return k
}

// asks lets time pass and lists who is asked, when, and what for.
func (k *keeper) asks(d time.Duration) (out []string) {
	for end := k.now.Add(d); ; {
		at, ok := k.r.NextWake()
		if !ok || at.After(end) {
			k.now = end
			return out
		}
		k.now = at
		k.step(message.Wake{})
		for _, s := range k.sent {
			if q := s.Message.Retired; q != nil {
				out = append(out, fmt.Sprintf("%v %s %d", k.now.Sub(schedtest.Start), s.To, len(q.Jobs)))
			}
		}
	}
}

// TestWhoIsAsked: one of the group is asked after the other, each question some times over with a
// pause, rounds ever more seldom; who told to forget, and this node itself, are never asked.
func TestWhoIsAsked(t *testing.T) {
	jobs := numbered(t, 3, nil)
	k := retiredBy(t, jobs, 66, 4, 6, 7)
	_, b := schedtest.Identity(6)
	_, c := schedtest.Identity(7)
	var want []string
	at, pause := time.Duration(0), askFirst
	for n := range 4 {
		at += pause
		for try := range time.Duration(askTries) {
			want = append(want, fmt.Sprintf("%v %s 3", at+try*k.cfg.RetryMin, []task.PeerID{b, c}[n%2]))
		}
		at += askTries * k.cfg.RetryMin // the last of which is waited for, too
		pause *= 2
	}
	if got := k.asks(at); !slices.Equal(got, want) {
		t.Errorf("asked were\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	k.asks(24 * time.Hour)
	if n := len(k.asks(24 * time.Hour)); n < 24*6*askTries*9/10 || n > 24*6*askTries {
		t.Errorf("in a day %d questions are asked, want one each %v, %d times", n, askEvery, askTries)
	}
	if n := k.kept(jobs); n != 3 {
		t.Errorf("unanswered, %d of 3 jobs are kept", n)
	}
}

// TestForgedAnswers: only who is asked answers, and only the question that it is asked.
func TestForgedAnswers(t *testing.T) {
	_, asked := schedtest.Identity(6)
	_, other := schedtest.Identity(7)
	_, liar := schedtest.Identity(66)
	for name, tt := range map[string]struct {
		from    task.PeerID
		session int
		seq     uint64
		wait    time.Duration
		want    int
	}{
		"the answer":                 {asked, 0, 1, askFirst, 0},
		"before the question":        {asked, 0, 1, 0, 2},
		"another's":                  {other, 0, 1, askFirst, 2},
		"of who told to forget":      {liar, 0, 1, askFirst, 2},
		"of another round":           {asked, 1, 1, askFirst, 2},
		"of a question not asked":    {asked, 0, 2, askFirst, 2},
		"after the round, too late":  {asked, 0, 1, time.Minute, 2},
		"of no question, nor number": {asked, 0, 0, askFirst, 2},
	} {
		jobs := numbered(t, 2, nil)
		k := retiredBy(t, jobs, 6, 7)
		k.asks(askFirst)
		session := k.r.retired.session
		if tt.wait == 0 {
			k = retiredBy(t, jobs, 6, 7)
		} else {
			k.asks(tt.wait - askFirst)
		}
		k.hear(tt.from, message.Message{Kept: &message.Kept{Session: session + uint64(tt.session), Seq: tt.seq}})
		if n := k.kept(jobs); n != tt.want {
			t.Errorf("%s: %d jobs are kept, want %d", name, n, tt.want)
		}
	}
}

// bulky gives a job of a keeper a row that takes most of a message.
func bulky(t *testing.T, k *keeper, rec task.Record, i uint64) {
	key, _ := schedtest.Identity(9)
	id := task.TaskID{Job: rec.ID(), Index: i}
	r := task.Result{Task: id, Outcome: task.Completed}
	for n := range message.BatchBytes * 3 / 4 / task.MaxInline {
		content := []byte(fmt.Sprintf("%0*d", task.MaxInline, n))
		r.Outputs = append(r.Outputs, task.Output{Name: fmt.Sprintf("%04d", n), CID: task.RawCID(content),
			Size: task.MaxInline, Inline: content})
	}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	k.r.ledger.Jobs[rec.ID()].Row(i).AddResult(message.Attempt{Epoch: 3, Seq: 2}, r)
}

// TestShownInParts: pairs of jobs that differ are shown in as many messages as they need, each
// one within its size; a job is confirmed when all of it was shown and none of it was lacking,
// whatever else was.
func TestShownInParts(t *testing.T) {
	_, asked := schedtest.Identity(6)
	for name, tt := range map[string]struct {
		lacks int // the part in which the first job is said to be lacking; 0 for none
		want  int
	}{
		"all is there": {0, 0}, "the first part is not": {1, 1}, "the last part is not": {3, 1},
	} {
		jobs := numbered(t, 2, func(j *task.Job) { j.Outputs = []string{"*", "stdout"} })
		k := retiredBy(t, jobs, 6)
		byName := func(a, b task.Record) int { return strings.Compare(string(a.ID()), string(b.ID())) }
		first := slices.MinFunc(jobs, byName)
		bulky(t, k, first, 0)
		bulky(t, k, first, 2)
		bulky(t, k, slices.MaxFunc(jobs, byName), 0)
		k.asks(askFirst)
		answer := func(lacking ...task.JobID) {
			q := k.r.retired.question
			k.hear(asked, message.Message{Kept: &message.Kept{Session: q.Session, Seq: q.Seq, Lacking: lacking}})
		}
		answer(jobs[0].ID(), jobs[1].ID()) // by digest it has neither
		parts, keys := 0, 0
		for k.r.retired.peer != "" && len(k.r.retired.question.Pairs) > 0 && parts < 9 {
			parts++
			keys += len(k.r.retired.question.Pairs)
			size := 0
			for _, p := range k.r.retired.question.Pairs {
				size += len(p.Value)
			}
			if size > message.BatchBytes {
				t.Errorf("%s: part %d has %d bytes", name, parts, size)
			}
			if n := len(k.r.ledger.Jobs); n != 2 {
				t.Fatalf("%s: %d jobs are kept when part %d is asked after", name, n, parts)
			}
			if parts == tt.lacks {
				answer(first.ID())
			} else {
				answer()
			}
		}
		if parts != 3 || keys != 5+4 {
			t.Errorf("%s: %d pairs were shown in %d parts", name, keys, parts)
		}
		if n := len(k.r.ledger.Jobs); n != tt.want {
			t.Errorf("%s: %d jobs are kept, want %d: %+v", name, n, tt.want, k.said)
		}
	}
}

// TestOnlyFollowersAnswer: who has no copy that a leader has it keep answers nothing, and who was
// told to forget a job itself confirms none.
func TestOnlyFollowersAnswer(t *testing.T) {
	jobs := numbered(t, 2, nil)
	_, who := schedtest.Identity(8)
	k := retiredBy(t, jobs)
	question := message.Message{Retired: &message.Retired{Session: 1, Seq: 1, Jobs: []message.JobDigest{
		{Job: jobs[0].ID(), Digest: message.ShortDigest(k.r.ledger.Jobs[jobs[0].ID()])}}}}
	if k.hear(who, question); len(k.sent) != 0 {
		t.Errorf("one that is to forget all answers %+v", k.sent)
	}
	_, next := schedtest.Identity(7)
	k.meets(next, 30, true)
	k.hear(who, question)
	if len(k.sent) != 1 || k.sent[0].To != who || len(k.sent[0].Message.Kept.Lacking) != 0 {
		t.Fatalf("a follower that has the job answers %+v", k.sent)
	}
	question.Retired.Jobs[0].Digest[0]++
	question.Retired.Jobs = append(question.Retired.Jobs, message.JobDigest{Job: "unknown"})
	question.Retired.Pairs = []message.Pair{{Key: "nonsense"}, {Key: ledger.JobKey("another")}}
	k.hear(who, question)
	lacking := []task.JobID{"", "another", jobs[0].ID(), "unknown"}
	slices.Sort(lacking)
	if got := k.sent[0].Message.Kept.Lacking; !slices.Equal(got, lacking) {
		t.Errorf("of what differs, is not known or is no key it lacks %q, want %q", got, lacking)
	}
	k.hear(next, message.Message{Copy: &message.Copy{Epoch: 30, Session: k.r.session.id, Seq: k.r.session.taken + 1,
		Gone: []task.JobID{jobs[1].ID()}}})
	k.hear(who, message.Message{Retired: &message.Retired{Session: 1, Seq: 2, Jobs: []message.JobDigest{
		{Job: jobs[1].ID(), Digest: message.ShortDigest(k.r.ledger.Jobs[jobs[1].ID()])}}}})
	if got := k.sent[0].Message.Kept.Lacking; !slices.Equal(got, []task.JobID{jobs[1].ID()}) {
		t.Errorf("of a job that it was told to forget itself it lacks %q", got)
	}
}
