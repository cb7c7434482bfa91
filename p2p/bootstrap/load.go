package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"godwit/internal/signed"
)

const (
	// loadTime is how long a list may take to come.
	loadTime = 15 * time.Second
	// maxRecords bounds the text records of a name that are looked at: a list's lines.
	maxRecords = MaxPeers + MaxSignatures + 3
)

// A Source is where lists come from. The zero value asks the system for names, and the web.
type Source struct {
	Web   http.RoundTripper // nil: http.DefaultTransport
	Names interface {       // nil: net.DefaultResolver
		LookupTXT(ctx context.Context, name string) ([]string, error)
	}
}

// The ways to name a source, besides the path of a file.
const (
	schemeName = "dnsaddr:"
	// multiaddrName may stand in front of a name, as in a multiaddr.
	multiaddrName = "/dnsaddr/"
	// recordName is where the records of a name are, as in multiaddrs (dnsaddr), recordPeer what
	// one with a peer begins with, and recordList what one with another line of the list does.
	recordName = "_dnsaddr."
	recordPeer = "dnsaddr="
	recordList = "godwit="
)

// ErrSource is returned for what names no source of a list.
var ErrSource = errors.New("bootstrap: a list comes from https://..., dnsaddr:NAME or a file")

// CheckName says what keeps a text from naming a source.
func CheckName(from string) error {
	name, isName := strings.CutPrefix(from, schemeName)
	switch {
	case strings.HasPrefix(from, "http://"):
		return fmt.Errorf("%w, not from %s: who is asked by https at least sees alone who asks", ErrSource, from)
	case from == "", isName && strings.TrimPrefix(name, multiaddrName) == "", from == signed.SchemeWeb:
		return fmt.Errorf("%w, not from %q", ErrSource, from)
	}
	return nil
}

// Load reads a list from where it is: https://..., dnsaddr:NAME, file:PATH or a path. It checks no
// signature.
func (s Source) Load(ctx context.Context, from string) (List, error) {
	if err := CheckName(from); err != nil {
		return List{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	var text []byte
	var err error
	switch name, isName := strings.CutPrefix(from, schemeName); {
	case isName:
		text, err = s.lookUp(ctx, strings.TrimPrefix(name, multiaddrName))
	default:
		text, err = signed.Fetch(ctx, s.Web, from, MaxBytes)
	}
	if err != nil {
		return List{}, fmt.Errorf("reading the bootstrap list %s: %w", from, err)
	}
	l, err := Parse(text)
	if err != nil {
		return List{}, fmt.Errorf("reading the bootstrap list %s: %w", from, err)
	}
	return l, nil
}

// lookUp asks the name system. The records of a name have the peers of the list as other programs
// know them, and its other lines.
func (s Source) lookUp(ctx context.Context, name string) ([]byte, error) {
	names := s.Names
	if names == nil {
		names = net.DefaultResolver
	}
	records, err := names.LookupTXT(ctx, recordName+name)
	if err != nil {
		return nil, err
	}
	return fromRecords(records)
}

// Records returns the list as text records, to be put at _dnsaddr.NAME.
func (l *List) Records() []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSuffix(string(l.Text()), "\n"), "\n") {
		if peer, isPeer := strings.CutPrefix(line, wordPeer); isPeer {
			out = append(out, recordPeer+peer)
		} else {
			out = append(out, recordList+line)
		}
	}
	return out
}

// fromRecords is the text of a list whose records come in any order, among others.
func fromRecords(records []string) ([]byte, error) {
	if len(records) > maxRecords {
		return nil, fmt.Errorf("%w: the name has %d text records, at most %d", ErrDamaged, len(records), maxRecords)
	}
	var rest, peers, signed []string
	for _, r := range records {
		if peer, ok := strings.CutPrefix(r, recordPeer); ok {
			peers = append(peers, wordPeer+peer)
		} else if line, ok := strings.CutPrefix(r, recordList); ok && strings.HasPrefix(line, wordSigned) {
			signed = append(signed, line)
		} else if ok {
			rest = append(rest, line)
		}
	}
	order := []string{head, wordIssued, wordExpires}
	slices.SortFunc(rest, func(a, b string) int { return rankOf(order, a) - rankOf(order, b) })
	slices.Sort(peers)
	slices.Sort(signed)
	return []byte(strings.Join(slices.Concat(rest, peers, signed), "\n") + "\n"), nil
}

func rankOf(order []string, line string) int {
	return slices.IndexFunc(order, func(begin string) bool { return strings.HasPrefix(line, begin) })
}
