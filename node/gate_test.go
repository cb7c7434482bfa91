package node

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/overlay"
	"godwit/task"
)

// reads reports how many bytes a peer gets that asks all others for some content, which it
// does not have.
func (p *peer) reads(t *testing.T, what task.CID, from ...*peer) int64 {
	t.Helper()
	got := int64(0)
	for _, holder := range from {
		before := p.Blocks().Size()
		if err := p.Blocks().Fetch(t.Context(), what, []task.PeerID{holder.ID()}, blocks.AtMost(1<<30)); err == nil {
			got += max(1, p.Blocks().Size()-before)
		}
		if err := p.Blocks().DeleteDAG(t.Context(), what); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// secretJob hands in a job with an input of 250,000 bytes, and returns its record's CID and
// the input's.
func (p *peer) secretJob(t *testing.T, in overlay.ID, text string) (job task.JobID, input task.CID) {
	t.Helper()
	data := bytes.Repeat([]byte(text), 250_000/len(text))
	sub := sleepJob(t, p.Node, 2, time.Hour)
	var err error
	if sub.Key, err = p.SealingKey(t.Context(), string(in)); err != nil {
		t.Fatal(err)
	}
	sealer, err := seal.New(sub.Key)
	if err != nil {
		t.Fatal(err)
	}
	input, size, err := p.Blocks().Import(t.Context(), sealer.Sealing(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	if sub.Module, err = p.Blocks().ImportBytes(t.Context(), []byte("the program of "+text)); err != nil {
		t.Fatal(err)
	}
	sub.File.Files = []string{"input.bin"}
	sub.Inputs = map[string]task.FileRef{"input.bin": {CID: input, Size: size}}
	sub.Overlay = string(in)
	if job, err = p.Submit(t.Context(), sub); err != nil {
		t.Fatal(err)
	}
	return job, input
}

// Blocks of an overlay are for its members: neither for who was one, nor for members of
// another overlay of the same nodes, nor for those of the open pool.
func TestBlocksAreForMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 4)
		founder, member, former, stranger := s.peers[0], s.peers[1], s.peers[2], s.peers[3]
		lab := founder.found(OverlayRules{Name: "lab", Admission: AdmitInvited})
		other := founder.found(OverlayRules{Name: "other", Admission: AdmitInvited})
		member.join(founder.invite(lab))
		former.join(founder.invite(lab))
		stranger.join(founder.invite(other))
		member.join(founder.invite(other))
		s.gatherIn(lab, founder, member, former)
		s.gatherIn(other, founder, member, stranger)
		job, input := founder.secretJob(t, lab, "a closed overlay's input ")
		shown, open := founder.secretJob(t, other, "another overlay's input ")
		s.until("both lend to the job", func() bool { return member.runningIn()[lab] > 0 || founder.runningIn()[lab] > 0 })

		holders := []*peer{founder, member}
		for _, c := range []struct {
			who  *peer
			what task.CID
			may  bool
		}{
			{former, task.CID(job), true}, {former, input, true}, {former, task.CID(shown), false}, {former, open, false},
			{stranger, task.CID(job), false}, {stranger, input, false},
			{stranger, task.CID(shown), true}, {stranger, open, true},
		} {
			if got := c.who.reads(t, c.what, holders...); got > 0 != c.may {
				t.Errorf("%s reads %d bytes of %s", shortPeer(c.who.ID()), got, c.what)
			}
		}

		rules := founder.in(lab).Rules
		rules.RevokeInvitations = true
		if _, err := founder.ChangeOverlay(t.Context(), string(lab), rules); err != nil {
			t.Fatal(err)
		}
		member.join(founder.invite(lab))
		s.until("who was a member is none, and who was invited anew is one", func() bool {
			return founder.in(lab).Members == 2 && member.in(lab).Version == 1 && member.in(lab).Members == 2
		})
		if got := former.reads(t, input, holders...); got > 0 {
			t.Errorf("whose invitation was taken back reads %d bytes", got)
		}
		if got := member.reads(t, input, founder); got == 0 {
			t.Error("who was invited anew reads nothing")
		}

		founder.crash()
		founder.start()
		s.until("the founder is back", func() bool { return founder.in(lab).Members == 2 })
		if got := former.reads(t, input, founder); got > 0 {
			t.Errorf("after a restart whose invitation was taken back reads %d bytes", got)
		}
		if got := member.reads(t, input, founder); got == 0 {
			t.Error("after a restart a member reads nothing")
		}
	})
}
