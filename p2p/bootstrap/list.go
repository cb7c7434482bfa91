package bootstrap

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/internal/signed"
	"godwit/overlay"
	"godwit/task"
)

// A List names peers that are there for newcomers.
type List struct {
	Issued, Expires time.Time       // to the second
	Peers           []overlay.Place // 1 to MaxPeers, in the order of their texts, each once
	Signatures      []Signature     // at most MaxSignatures, one a key, in the order of the keys
}

// A Signature is a key's over all of a list but the signatures.
type Signature = signed.Signature

const (
	// MaxPeers bounds a list: newcomers dial a few of them, chosen at random.
	MaxPeers = 256
	// MaxSignatures leaves room for several keepers of a list, and for a key and its successor.
	MaxSignatures = signed.MaxSignatures
	// MaxBytes bounds the text of a list: MaxPeers of some 200 bytes each.
	MaxBytes = 64 << 10
	// MaxLife bounds how long a list holds: peers move, and keys are lost.
	MaxLife = signed.MaxLife
	// MaxSkew is how far a clock may be behind that of a list's maker.
	MaxSkew = signed.MaxSkew
)

// Errors of lists that are not to be used. Check and Parse wrap them with what was found.
var (
	ErrDamaged    = errors.New("bootstrap: not a whole list")
	ErrUnsigned   = errors.New("bootstrap: nobody has signed the list")
	ErrUnknownKey = errors.New("bootstrap: no key that this node trusts has signed the list")
	ErrExpired    = errors.New("bootstrap: the list has expired")
	ErrFuture     = errors.New("bootstrap: the list does not hold yet")
	// ErrOlder is returned by Since: somebody shows what its makers have replaced.
	ErrOlder = errors.New("bootstrap: the list is older than one that came from there before")
)

var kind = signed.Kind{Damaged: ErrDamaged, Unsigned: ErrUnsigned, UnknownKey: ErrUnknownKey, Expired: ErrExpired,
	Future: ErrFuture, Older: ErrOlder}

// The text of a list: these words, one a line, with what follows each. What is signed is the
// text up to the first signature, so that its first line keeps it apart from all else that a key
// may sign.
const (
	head        = "godwit bootstrap list 1"
	wordIssued  = "issued "
	wordExpires = "expires "
	wordPeer    = "peer "
	wordSigned  = "signed "
)

// body is what is signed.
func (l *List) body() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%s%s\n%s%s\n", head, wordIssued, l.Issued.UTC().Format(time.RFC3339), wordExpires,
		l.Expires.UTC().Format(time.RFC3339))
	for _, p := range l.Peers {
		fmt.Fprintf(&b, "%s%s\n", wordPeer, p)
	}
	return b.Bytes()
}

// Text returns the list as Parse reads it.
func (l *List) Text() []byte { return signed.Append(l.body(), l.Signatures) }

// New returns a list that nobody has signed yet.
func New(peers []overlay.Place, issued, expires time.Time) (List, error) {
	l := List{Issued: issued.UTC().Truncate(time.Second), Expires: expires.UTC().Truncate(time.Second)}
	l.Peers = slices.Clone(peers)
	slices.SortFunc(l.Peers, comparePlaces)
	l.Peers = slices.Compact(l.Peers)
	return l, l.validate()
}

func comparePlaces(a, b overlay.Place) int { return strings.Compare(a.String(), b.String()) }

// Sign adds a key's signature, or replaces that which it had.
func (l *List) Sign(key ed25519.PrivateKey) (err error) {
	if l.Signatures, err = signed.Add(l.Signatures, key, l.body()); err != nil {
		return fmt.Errorf("bootstrap: signing the list: %w", err)
	}
	return nil
}

// validate checks what New makes and Parse reads.
func (l *List) validate() error {
	if len(l.Peers) == 0 || len(l.Peers) > MaxPeers {
		return fmt.Errorf("%w: it has %d peers, want 1 to %d", ErrDamaged, len(l.Peers), MaxPeers)
	}
	return kind.Dates(l.Issued, l.Expires)
}

// Check returns nil if one of the trusted keys has signed the list and it holds at now, else what
// is the matter with it.
func (l *List) Check(trusted []task.PeerID, now time.Time) error {
	if err := kind.Signed(l.Signatures, trusted, l.body()); err != nil {
		return err
	}
	return kind.Holds(l.Issued, l.Expires, now)
}

// Since returns nil if the list was not made before one that came from the same source; the zero time is none.
func (l *List) Since(issued time.Time) error { return kind.Since(l.Issued, issued) }

// Parse reads what Text wrote, and nothing else. Who signed it is for Check to find out.
func Parse(text []byte) (List, error) {
	var l List
	if len(text) > MaxBytes {
		return l, fmt.Errorf("%w: it has %d bytes, at most %d", ErrDamaged, len(text), MaxBytes)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if err := l.take(i, line); err != nil {
			return List{}, fmt.Errorf("%w: line %d: %w", ErrDamaged, i+1, err)
		}
	}
	if err := l.validate(); err != nil {
		return List{}, err
	}
	if !bytes.Equal(l.Text(), text) {
		return List{}, fmt.Errorf("%w: its lines are in another order, or written in another way", ErrDamaged)
	}
	return l, nil
}

// take takes in a line.
func (l *List) take(number int, line string) (err error) {
	if number == 0 {
		if line != head {
			return fmt.Errorf("it is not %q: the list is of another version, or no list", head)
		}
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word + " " {
	case wordIssued:
		l.Issued, err = signed.ReadTime(rest)
	case wordExpires:
		l.Expires, err = signed.ReadTime(rest)
	case wordPeer:
		var p overlay.Place
		if p, err = overlay.ParsePlace(rest); err == nil {
			l.Peers = append(l.Peers, p)
		}
		if n := len(l.Peers); err == nil && n > 1 && comparePlaces(l.Peers[n-2], p) >= 0 {
			err = errors.New("peers are in the order of their addresses, each once")
		}
	case wordSigned:
		l.Signatures, err = signed.Take(l.Signatures, rest)
	default:
		err = fmt.Errorf("%q begins no line of a list", word)
	}
	return err
}
