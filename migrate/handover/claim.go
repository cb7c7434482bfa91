package handover

import "fmt"

// maxClaims bounds the streams that wait for one offer: the right one, and what
// else may ask for the same attempt by mistake.
const maxClaims = 4

func (t *Taker) begin() {
	if t.begun.IsZero() {
		t.begun = t.now
	}
}

// offered takes the leader's offer; the first counts.
func (t *Taker) offered(o Offered) {
	if t.offer != nil {
		return
	}
	t.begin()
	t.offer = &o
	t.openBy = t.now.Add(t.cfg.OpenWait)
	claims := t.claims
	t.claims = nil
	for _, c := range claims {
		t.opened(c)
	}
}

// opened takes a stream that claims to bring the guest.
func (t *Taker) opened(o Opened) {
	t.begin()
	switch {
	case t.offer == nil && len(t.claims) < maxClaims:
		if len(t.claims) == 0 {
			t.offerBy = t.now.Add(t.cfg.OfferWait)
		}
		t.claims = append(t.claims, o)
	case t.offer == nil:
		t.refuse(o.Stream, "others ask for it at the same time", true)
	case t.wrong(o) != "":
		t.refuse(o.Stream, t.wrong(o), false)
	case t.begins || t.final != nil:
		t.refuse(o.Stream, "it is being handed over already", false)
	default:
		if t.stream > 0 { // whose welcome was lost
			t.do(Hang{t.stream, ""})
		}
		t.stream, t.heard = o.Stream, t.now
		t.say(Welcome{})
	}
}

// wrong says what of a stream is not as the leader offered it.
func (t *Taker) wrong(o Opened) string {
	switch {
	case o.Peer != t.offer.Worker:
		return "the leader offers it from another worker"
	case o.Open.Overlay != t.offer.Overlay || o.Open.Task != t.offer.Task:
		return "the leader offers another task"
	case o.Open.From != t.offer.From || o.Open.As != t.offer.As:
		return fmt.Sprintf("the leader offers attempt %d.%d as %d.%d", t.offer.From.Epoch, t.offer.From.Seq,
			t.offer.As.Epoch, t.offer.As.Seq)
	}
	return ""
}

func (t *Taker) refuse(stream int, reason string, later bool) {
	t.do(Send{stream, Refuse{Reason: clip(reason), Later: later}})
	t.do(Hang{stream, ""})
}

// decline refuses all that wait, since no offer came.
func (t *Taker) decline(reason string, later bool) {
	for _, c := range t.claims {
		t.refuse(c.Stream, reason, later)
	}
	t.claims = nil
	t.end(NotOffered, reason)
}

// broke takes the loss of a stream. Before anything came the source may open
// another; after the Final it is not needed any more.
func (t *Taker) broke(ev Broken) {
	for i, c := range t.claims {
		if c.Stream == ev.Stream {
			t.claims = append(t.claims[:i:i], t.claims[i+1:]...)
			return
		}
	}
	if ev.Stream != t.stream || t.stream == 0 {
		return
	}
	t.stream = 0
	if t.begins && t.final == nil {
		t.fail("the stream broke: " + ev.Reason)
	}
}
