package release

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"godwit/internal/signed"
)

// Parse reads what Text wrote, and nothing else. Who signed it is for Check to find out.
func Parse(text []byte) (Release, error) {
	var r Release
	if len(text) > MaxBytes {
		return r, fmt.Errorf("%w: it has more than %d bytes", ErrDamaged, MaxBytes)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if err := r.take(i, line); err != nil {
			return Release{}, fmt.Errorf("%w: line %d: %w", ErrDamaged, i+1, err)
		}
	}
	if err := r.validate(); err != nil {
		return Release{}, err
	}
	if !bytes.Equal(r.Text(), text) {
		return Release{}, fmt.Errorf("%w: it is written in another way", ErrDamaged)
	}
	return r, nil
}

// take takes in a line.
func (r *Release) take(number int, line string) (err error) {
	if number == 0 {
		if line != head {
			return fmt.Errorf("it does not begin with %q", head)
		}
		return nil
	}
	want := wordSigned
	if number <= len(words) {
		want = words[number-1]
	}
	rest, ok := strings.CutPrefix(line, want)
	if !ok {
		return fmt.Errorf("it does not begin with %q", want)
	}
	switch want {
	case wordSigned:
		r.Signatures, err = signed.Take(r.Signatures, rest)
	case "issued ":
		r.Issued, err = signed.ReadTime(rest)
	case "expires ":
		r.Expires, err = signed.ReadTime(rest)
	case "version ":
		r.Version = rest
	case "page ":
		r.Page = rest
	case "sums ":
		sum, bad := hex.DecodeString(rest)
		if bad != nil || copy(r.Sums[:], sum) != len(r.Sums) || len(sum) != len(r.Sums) {
			err = errors.New("that is no SHA-256")
		}
	}
	return err
}
