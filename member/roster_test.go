package member

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// Results are signed together where all members say that they read such, lost ones too, and the submitter is known.
func TestWhoReadsTogether(t *testing.T) {
	now := time.Unix(1, 0)
	advert := func(peer task.PeerID, reads bool) *overlay.Advert {
		a := &overlay.Advert{Overlay: "lab", Peer: peer, Seq: 1, Issued: now, Expires: now.Add(time.Hour), Version: "1"}
		if reads {
			a.MarkTogether()
		}
		return a
	}
	all := func(of ...*overlay.Advert) []*overlay.Advert { return of }
	for name, c := range map[string]struct {
		here, away []*overlay.Advert
		submitter  task.PeerID
		want       bool
	}{
		"all read":                {here: all(advert("a", true), advert("b", true)), submitter: "b", want: true},
		"one does not":            {here: all(advert("a", true), advert("b", false)), submitter: "a"},
		"one that is away":        {here: all(advert("a", true)), away: all(advert("b", false)), submitter: "a"},
		"who is away reads":       {here: all(advert("a", true)), away: all(advert("b", true)), submitter: "a", want: true},
		"a stranger's job":        {here: all(advert("a", true)), submitter: "c"},
		"the submitter is unsure": {here: all(advert("a", true))},
		"nobody is known":         {submitter: "a"},
	} {
		r := newRoster("lab")
		for _, a := range c.here {
			if !r.view.Seen(a) {
				t.Fatalf("%s: %s is no news", name, a.Peer)
			}
		}
		for _, a := range c.away {
			r.away[a.Peer] = *a
		}
		if got := r.readTogether(c.submitter); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
