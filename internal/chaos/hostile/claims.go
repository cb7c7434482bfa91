package hostile

import (
	"context"
	"math"
	"time"

	"godwit/internal/pause"
	"godwit/member"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// claims are those of people who would lead.
func claims() []attack {
	return []attack{{id: "S2", play: playClaims, plain: true,
		before: "anybody took the lead; one signed advert split the open pool into single nodes for ever"}}
}

// epochs are those that a claimant may name after one that is known.
func epochs(after uint64, self task.PeerID) []uint64 {
	const tag = 24
	next := overlay.NextEpoch(after, self)
	own := next & (1<<tag - 1)
	now := uint64(time.Now().Unix()) / 8 // a bound of terms by time
	return []uint64{next, next + 1<<tag, next + 8<<tag, next + 9<<tag, next + 1000<<tag, next + 1, after + 1, after,
		now<<tag | own, (now+14)<<tag | own, (now+16)<<tag | own, 1 << 28 << tag, 1<<28<<tag | own, (1<<29-2)<<tag | own,
		1 << 52,
		1<<53 - 1, 1 << 62, math.MaxUint64}
}

func playClaims(ctx context.Context, f *field, row *Row) error {
	crowd, err := f.crowd(ctx, max(len(guises), f.Strangers/2))
	if err != nil {
		return err
	}
	led := 0
	for i := 0; row.Times < f.Times; i++ {
		s := crowd[i%len(crowd)]
		p, err := f.agreed(ctx, s.poolName())
		if err != nil { // it is judged in the end whether they come back to one another
			led++
			if err := pause.For(ctx, lookAgain); err != nil {
				return err
			}
			p.Epoch = f.terms[s.pool()] << 24
		}
		list := epochs(p.Epoch, s.host.ID())
		s.claim(ctx, p, list[(i/len(crowd))%len(list)], i)
		row.Times++
	}
	row.tried(0, "adverts, renewals, offers, refusals, reports, and sessions of replicas in 18 kinds of epochs, by %d "+
		"peers of all guises", len(crowd))
	row.now("in %d of %d moments the nodes were not of one mind", led, row.Times)
	f.dismiss()
	if err := rest(ctx); err != nil {
		return err
	}
	for _, name := range []string{openName, closedName} {
		row.must("afterwards, in "+name, f.hunted(ctx, row, name, 3, "", func(*prey) error { return nil }))
	}
	return nil
}

// claim says one thing of leading, of six. What becomes of it is seen elsewhere.
func (s *stranger) claim(ctx context.Context, p pool, epoch uint64, kind int) {
	self := s.host.ID()
	for _, n := range s.f.nodes {
		to := n.Peer()
		switch kind % 6 {
		case 0:
			if s.as != passerby {
				_ = s.advertiseIn(s.pool(), epoch, to)
			}
		case 1:
			_ = s.sayLease(ctx, to, member.Renewal, epoch, "", self, to)
		case 2:
			_ = s.sayLease(ctx, to, member.Refusal, epoch, self)
		case 3:
			_ = s.sayLease(ctx, to, member.Offer, epoch, "", to, self)
		case 4:
			_ = s.say(ctx, to, message.Message{Report: &message.Report{Epoch: epoch}}, known(epoch))
		case 5:
			_ = s.say(ctx, to, message.Message{Copied: &message.Copied{Epoch: epoch, Session: 1}},
				message.Message{Wanted: &message.Wanted{Epoch: epoch, Session: 0, Seq: 1}},
				message.Message{Place: &message.Place{Epoch: epoch}})
		}
	}
}
