package overlay

import (
	"bytes"
	"testing"
	"time"
)

// Who holds a ticket finds others that hold it, week by week, and nobody who holds another.
func TestMeeting(t *testing.T) {
	m, founder := manifestOf(t, Invited, nil)
	ticket := ticketOf(t, &m, founder)
	again, err := ParseTicket(ticket.Text())
	if err != nil {
		t.Fatal(err)
	}
	a, b := ticket.Meeting(), again.Meeting()
	if !bytes.Equal(a.Secret, b.Secret) || !a.Expires.Equal(ticket.Expires) || !a.Valid(epoch) || a.Valid(ticket.Expires) {
		t.Errorf("meetings %+v and %+v", a, b)
	}
	other, err := NewTicket(&m, founder, bytes.Repeat([]byte{9}, 32), epoch, epoch.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	c := other.Meeting()
	seen := map[[32]byte]bool{MeetingOpen(m.ID()): true}
	for _, x := range []Meeting{a, c} {
		for n := range 3 {
			key := x.At(epoch.Add(time.Duration(n) * week))
			if seen[key] {
				t.Error("two weeks, or two tickets, have one key")
			}
			seen[key] = true
		}
	}
	if begin := epoch.Truncate(week); a.At(begin.Add(time.Hour)) != a.At(begin.Add(2*time.Hour)) {
		t.Error("the key changes within a week")
	}
	if bytes.Contains(a.Secret, ticket.key.Seed()[:8]) || (&Meeting{}).Valid(epoch) {
		t.Error("the secret tells of the ticket, or there is none")
	}
}
