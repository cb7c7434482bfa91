package overlay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// What members are found by in a public directory, which says where they are to whoever knows what
// to ask for. docs/protocol.md, "Finding peers".

// MeetingOpen is what members of an open overlay are found by: anybody who knows its ID.
func MeetingOpen(id ID) [sha256.Size]byte { return sha256.Sum256([]byte("overlay" + string(id))) }

// A Meeting is a secret that the holders of one ticket share, and nobody else: with it they find
// each other. It does not admit: the ticket cannot be made of it.
type Meeting struct {
	Secret  []byte    // meetingBytes
	Expires time.Time // of the ticket
}

const meetingBytes = sha256.Size

// Meeting returns the ticket's.
func (t *Ticket) Meeting() Meeting {
	mac := hmac.New(sha256.New, t.key.Seed())
	mac.Write([]byte(sigContext + "meeting\n"))
	return Meeting{mac.Sum(nil), t.Expires}
}

// Valid reports whether there is a secret that holds at now.
func (m *Meeting) Valid(now time.Time) bool {
	return len(m.Secret) == meetingBytes && now.Before(m.Expires)
}

// week is how long what holders are found by stays the same: who sees it asked for learns no more
// than that somebody meets, and for so long.
const week = 7 * 24 * time.Hour

// At is what the holders are found by in the week of now.
func (m *Meeting) At(now time.Time) (key [sha256.Size]byte) {
	mac := hmac.New(sha256.New, m.Secret)
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(now.Unix()/int64(week.Seconds())))
	mac.Write(number[:])
	mac.Sum(key[:0])
	return key
}
