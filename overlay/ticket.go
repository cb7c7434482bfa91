package overlay

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"godwit/task"
)

// A Ticket is an invitation that a founder sends to a colleague. It is a bearer's:
// whoever has it can join, and bring others, until it expires or the founder
// takes it back (Manifest.InvitesFrom). So it is a secret between the two.
type Ticket struct {
	Overlay         ID
	Issued, Expires time.Time // to the millisecond
	Places          []Place   // where members can be dialled; at most MaxPlaces

	founder []byte             // the founder's signature over the invitation
	key     ed25519.PrivateKey // the ticket's own
}

// ErrTicket is wrapped by what ParseTicket returns for a text that is not a whole
// ticket.
var ErrTicket = errors.New("overlay: not an invitation")

// ErrTicketVersion is wrapped, beside ErrTicket, by what ParseTicket returns for a ticket that a
// later version of this program made.
var ErrTicketVersion = errors.New("overlay: of a newer version of godwit")

// The text of a ticket: ticketMark, then in base32 without padding the overlay's
// hash, the seed of the ticket's key, the two times in Unix milliseconds, the
// founder's signature, the places if there are any, and the first bytes of the SHA-256 of all that,
// which tell a slip of copying from a forgery. Base32, since it is one word to a
// double click and may change its case on its way.
//
// The places are placesVersion, their length in two bytes, and each as pack writes it. Nodes that
// know no places take such a ticket for one with too many letters.
const (
	ticketMark  = "godwit1"
	ticketStem  = "godwit" // of the marks of all versions
	ticketCheck = 4
	ticketFixed = digestSize + ed25519.SeedSize + 8 + 8 + ed25519.SignatureSize
	ticketBytes = ticketFixed + ticketCheck

	placesVersion = 1
	placesHead    = 1 + 2
	// maxTicketText bounds the text that is looked at: a ticket has 244 letters, with three places
	// at most 882, which a mail may have broken into lines.
	maxTicketText = 2048
)

// NewTicket makes a ticket for an Invited overlay. The key is its founder's, and
// seed 32 random bytes that nobody else knows and no other ticket has.
func NewTicket(m *Manifest, founder ed25519.PrivateKey, seed []byte, issued, expires time.Time) (Ticket, error) {
	issued, expires = round(issued), round(expires)
	switch {
	case m.Admission != Invited:
		return Ticket{}, fmt.Errorf("overlay: inviting to %q: its admission is %v, nobody needs an invitation", m.Name,
			m.Admission)
	case len(seed) != ed25519.SeedSize:
		return Ticket{}, fmt.Errorf("overlay: inviting to %q: the seed has %d bytes, want %d", m.Name, len(seed),
			ed25519.SeedSize)
	case !plausible(issued) || !plausible(expires) || !expires.After(issued):
		return Ticket{}, fmt.Errorf("overlay: inviting to %q: the invitation would expire before it holds", m.Name)
	case issued.Before(m.InvitesFrom):
		return Ticket{}, fmt.Errorf("overlay: inviting to %q: invitations before %s were taken back", m.Name,
			m.InvitesFrom.Format(time.RFC3339))
	}
	t := Ticket{Overlay: m.ID(), Issued: issued, Expires: expires, key: ed25519.NewKeyFromSeed(seed)}
	in, err := t.invitation()
	if err != nil {
		return Ticket{}, err
	}
	t.founder, err = sign("invitation", in, m.Founder, founder)
	return t, err
}

func (t *Ticket) invitation() (invitation, error) {
	digest, err := digestOf(t.Overlay)
	if err != nil {
		return invitation{}, fmt.Errorf("overlay: ticket: %w", err)
	}
	return invitation{digest, t.public(), t.Issued.UnixMilli(), t.Expires.UnixMilli()}, nil
}

// public is the ticket's public key.
func (t *Ticket) public() ed25519.PublicKey {
	return ed25519.PublicKey(t.key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
}

// Check returns nil if the ticket admits to the overlay of m at now, else what is
// the matter with it, wrapping ErrNotAdmitted.
func (t *Ticket) Check(m *Manifest, now time.Time) error {
	refuse := func(why error) error { return fmt.Errorf("%w to %q: %w", ErrNotAdmitted, m.Name, why) }
	if t.Overlay != m.ID() {
		return refuse(fmt.Errorf("the invitation is for overlay %s, this is %s", t.Overlay, m.ID()))
	}
	if m.Admission != Invited {
		return refuse(fmt.Errorf("the overlay takes no invitations any more, its admission is %v", m.Admission))
	}
	if err := m.honours(t.Issued, t.Expires, now); err != nil {
		return refuse(err)
	}
	in, err := t.invitation()
	if err != nil {
		return err
	}
	if verify("invitation", in, m.Founder, t.founder) != nil {
		return refuse(errors.New("the invitation is not one of this overlay's founder"))
	}
	return nil
}

// Pass returns what the adverts of a peer that joins with the ticket carry. It
// can be kept in place of the ticket.
func (t *Ticket) Pass(peer task.PeerID) ([]byte, error) {
	key, err := peer.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("overlay: ticket: %w", err)
	}
	in, err := t.invitation()
	if err != nil {
		return nil, err
	}
	sig, err := sign("admittance", admittance{in.Overlay, key}, task.PeerIDOf(t.public()), t.key)
	if err != nil {
		return nil, err
	}
	b, err := encoder.Marshal(passWire{Ticket: in.Ticket, Issued: in.Issued, Expires: in.Expires, Founder: t.founder,
		Peer: sig})
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding pass: %w", err)
	}
	return b, nil
}

// Text returns the ticket as a text to be copied, which ParseTicket reads; "" for
// the zero ticket.
func (t *Ticket) Text() string {
	digest, err := digestOf(t.Overlay)
	if err != nil || len(t.key) != ed25519.PrivateKeySize {
		return ""
	}
	b := append(digest, t.key.Seed()...)
	b = binary.BigEndian.AppendUint64(b, uint64(t.Issued.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, uint64(t.Expires.UnixMilli()))
	b = append(b, t.founder...)
	if b, err = t.appendPlaces(b); err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return ticketMark + idText.EncodeToString(append(b, sum[:ticketCheck]...))
}

func (t *Ticket) appendPlaces(b []byte) ([]byte, error) {
	if len(t.Places) == 0 {
		return b, nil
	}
	if len(t.Places) > MaxPlaces {
		return nil, fmt.Errorf("%w: a ticket has at most %d places", errPlace, MaxPlaces)
	}
	var places []byte
	for _, p := range t.Places {
		one, err := p.pack()
		if err != nil {
			return nil, err
		}
		places = append(places, one...)
	}
	b = binary.BigEndian.AppendUint16(append(b, placesVersion), uint16(len(places)))
	return append(b, places...), nil
}

// ParseTicket reads what Text wrote, in whatever case and broken into whatever
// lines. That its founder signed it is for Check to find out.
func ParseTicket(text string) (Ticket, error) {
	damaged := func(why string) (Ticket, error) { return Ticket{}, fmt.Errorf("%w: %s", ErrTicket, why) }
	if len(text) > maxTicketText {
		return damaged("the text is too long")
	}
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	body, found := strings.CutPrefix(text, ticketMark)
	switch {
	case !found && IsTicket(text):
		return Ticket{}, fmt.Errorf("%w: %w", ErrTicket, ErrTicketVersion)
	case !found:
		return damaged(fmt.Sprintf("the text does not begin with %q", ticketMark))
	}
	if want, ok := lettersOf(body); ok && len(body) != want {
		return damaged(fmt.Sprintf("it has %d letters after %s, want %d: a part is missing, or there is too much",
			len(body), ticketMark, want))
	}
	b, err := idText.DecodeString(body)
	if err != nil || idText.EncodeToString(b) != body || len(b) < ticketBytes {
		return damaged("a letter in it is wrong")
	}
	payload, check := b[:len(b)-ticketCheck], b[len(b)-ticketCheck:]
	if sum := sha256.Sum256(payload); string(sum[:ticketCheck]) != string(check) {
		return damaged("a letter in it is wrong")
	}
	return readTicket(payload)
}

// lettersOf returns how many letters a ticket has that begins so; not ok where that cannot be seen:
// a letter is wrong, or its places are of a version that is not known here.
func lettersOf(body string) (int, bool) {
	const group, groupBytes = 8, 5 // letters and bytes of base32 that belong together
	const seen = (ticketFixed + placesHead + groupBytes - 1) / groupBytes * groupBytes
	switch plain := idText.EncodedLen(ticketBytes); {
	case len(body) <= plain:
		return plain, true
	case len(body) < seen/groupBytes*group:
		return seen / groupBytes * group, true
	}
	head, err := idText.DecodeString(body[:seen/groupBytes*group])
	if err != nil || head[ticketFixed] != placesVersion {
		return 0, false
	}
	places := int(binary.BigEndian.Uint16(head[ticketFixed+1:]))
	return idText.EncodedLen(ticketBytes + placesHead + places), places <= MaxPlaces*(keyBytes+1+maxPlaceAddr)
}

// IsTicket reports whether a text is meant as a ticket, of whatever version, whole or not: what
// begins as one of this version, and what begins as another and is longer than any overlay's name.
func IsTicket(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	rest, found := strings.CutPrefix(text, ticketStem)
	return strings.HasPrefix(text, ticketMark) ||
		found && len(text) > task.MaxName && rest[0] >= '0' && rest[0] <= '9'
}

// readTicket reads what is between the mark and the check of a ticket's text.
func readTicket(b []byte) (Ticket, error) {
	next := func(n int) []byte {
		part := b[:n]
		b = b[n:]
		return part
	}
	var t Ticket
	var err error
	if t.Overlay, err = idOf(next(digestSize)); err != nil {
		return Ticket{}, fmt.Errorf("%w: %w", ErrTicket, err)
	}
	t.key = ed25519.NewKeyFromSeed(next(ed25519.SeedSize))
	t.Issued = time.UnixMilli(int64(binary.BigEndian.Uint64(next(8)))).UTC()
	t.Expires = time.UnixMilli(int64(binary.BigEndian.Uint64(next(8)))).UTC()
	t.founder = next(ed25519.SignatureSize)
	if t.Places, err = readPlaces(b); err != nil {
		return Ticket{}, fmt.Errorf("%w: %w", ErrTicket, err)
	}
	if !plausible(t.Issued) || !plausible(t.Expires) || !t.Expires.After(t.Issued) {
		return Ticket{}, fmt.Errorf("%w: its times make no sense", ErrTicket)
	}
	return t, nil
}

// readPlaces reads the places of a ticket; b is empty where there are none.
func readPlaces(b []byte) ([]Place, error) {
	switch {
	case len(b) == 0:
		return nil, nil
	case len(b) > placesHead && b[0] == placesVersion && int(binary.BigEndian.Uint16(b[1:])) == len(b)-placesHead:
		return unpackPlaces(b[placesHead:])
	case b[0] > placesVersion:
		return nil, ErrTicketVersion
	}
	return nil, errPlace
}
