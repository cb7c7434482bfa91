// Package release reads and writes the signed word that a version of the program is given out.
//
// A [Release] is small, signed and dated, so that any mirror serves. Whoever asks for it names the keys whose word
// it takes ([Release.Check]), and remembers the newest that it saw ([Release.Since]): a mirror can keep silent until
// the word expires, and no longer, and it can lead nobody back.
package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"godwit/internal/signed"
	"godwit/task"
)

// A Release is the newest version, as its makers say.
type Release struct {
	Issued, Expires time.Time         // to the second
	Version         string            // as in 0.2.0 or 0.2.0-rc.1; at most MaxVersion bytes
	Page            string            // where it is to be had: https://..., at most MaxPage bytes
	Sums            [sha256.Size]byte // SHA-256 of its SHA256SUMS, which has those of all files
	Signatures      []signed.Signature
}

const (
	// MaxBytes bounds the text: MaxPage and eight signatures of 150 bytes, and as much again.
	MaxBytes = 4 << 10
	// MaxVersion leaves room in adverts (overlay.MaxVersion) for a mark.
	MaxVersion = 50
	// MaxPage bounds an address that a person is to open.
	MaxPage = 300
)

// Errors of releases that are not to be believed. Check, Since and Parse wrap them with what was found.
var (
	ErrDamaged    = errors.New("not a whole word of a release")
	ErrUnsigned   = errors.New("nobody has signed the word of a release")
	ErrUnknownKey = errors.New("no key that is trusted here has signed the word of a release")
	ErrExpired    = errors.New("the word of a release has expired")
	ErrFuture     = errors.New("the word of a release does not hold yet")
	// ErrOlder is returned by Since: somebody shows what its makers have replaced.
	ErrOlder = errors.New("the word of a release is older than one that was seen before")
)

var kind = signed.Kind{Damaged: ErrDamaged, Unsigned: ErrUnsigned, UnknownKey: ErrUnknownKey, Expired: ErrExpired,
	Future: ErrFuture, Older: ErrOlder}

// The text of a release: these words, one a line, with what follows each, in this order. What is signed is the text up
// to the first signature, so that its first line keeps it apart from all else that a key may sign.
const head = "godwit release 1"

var words = []string{"issued ", "expires ", "version ", "page ", "sums "}

const wordSigned = "signed "

// New returns a release that nobody has signed yet.
func New(version, page string, sums [sha256.Size]byte, issued, expires time.Time) (Release, error) {
	r := Release{Issued: issued.UTC().Truncate(time.Second), Expires: expires.UTC().Truncate(time.Second),
		Version: version, Page: page, Sums: sums}
	return r, r.validate()
}

// body is what is signed.
func (r *Release) body() []byte {
	var b bytes.Buffer
	b.WriteString(head + "\n")
	for i, value := range []string{r.Issued.Format(time.RFC3339), r.Expires.Format(time.RFC3339), r.Version, r.Page,
		hex.EncodeToString(r.Sums[:])} {
		b.WriteString(words[i] + value + "\n")
	}
	return b.Bytes()
}

// Text returns the release as Parse reads it.
func (r *Release) Text() []byte { return signed.Append(r.body(), r.Signatures) }

// Sign adds a key's signature, or replaces that which it had.
func (r *Release) Sign(key ed25519.PrivateKey) (err error) {
	if r.Signatures, err = signed.Add(r.Signatures, key, r.body()); err != nil {
		return fmt.Errorf("signing the release: %w", err)
	}
	return nil
}

// validate checks what New makes and Parse reads.
func (r *Release) validate() error {
	page, err := url.Parse(r.Page)
	switch {
	case !IsVersion(r.Version):
		return fmt.Errorf("%w: %q is no version, such as 0.2.0", ErrDamaged, task.Printable(r.Version, MaxVersion))
	case err != nil || page.Scheme != "https" || page.Host == "" || page.User != nil || len(r.Page) > MaxPage ||
		task.Printable(r.Page, MaxPage) != r.Page || strings.Contains(r.Page, " "):
		return fmt.Errorf("%w: %q is no page, such as https://example.org/godwit", ErrDamaged,
			task.Printable(r.Page, MaxPage))
	}
	return kind.Dates(r.Issued, r.Expires)
}

// IsVersion reports whether a text is a version that can be given out: three numbers, and what comes before them.
func IsVersion(v string) bool {
	return len(v) <= MaxVersion && semver.IsValid("v"+v) && semver.Canonical("v"+v) == "v"+v
}

// Newer reports whether the release is newer than a version that somebody has. Known is false if that version has no
// place in the order. This is the case for builds that were not given out: Go and scripts/package number a commit
// without an earlier release 0.0.0.
func (r *Release) Newer(have string) (newer, known bool) {
	have = "v" + strings.TrimPrefix(have, "v")
	if !semver.IsValid(have) || semver.Canonical(have) != strings.TrimSuffix(have, semver.Build(have)) ||
		strings.HasPrefix(have, "v0.0.0") {
		return false, false
	}
	return semver.Compare("v"+r.Version, have) > 0, true
}

// Check returns nil if one of the trusted keys has signed the release and its word holds at now, else what is the
// matter.
func (r *Release) Check(trusted []task.PeerID, now time.Time) error {
	if err := r.Signed(trusted); err != nil {
		return err
	}
	return kind.Holds(r.Issued, r.Expires, now)
}

// Signed returns nil if one of the trusted keys has signed the release, whenever that was.
func (r *Release) Signed(trusted []task.PeerID) error {
	return kind.Signed(r.Signatures, trusted, r.body())
}

// Since returns nil if the release was not made before one that was seen.
func (r *Release) Since(seen *Release) error { return kind.Since(r.Issued, seen.Issued) }
