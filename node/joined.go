package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"godwit/overlay"
)

// joinedName is the file that the overlays which this node serves are kept in,
// beside the store: a store that is damaged does not cost a member its pass.
const joinedName = "overlays.json"

// A joined is a membership as it is kept.
type joined struct {
	First    overlay.Manifest // version 0, whose CID is the overlay's ID
	Manifest overlay.Manifest // the version followed
	Pass     []byte
	Share    float64
	Meetings []overlay.Meeting // of tickets that it gave or came with
}

// joinedRecord is a joined on disk.
type joinedRecord struct {
	First    []byte  `json:"first"`
	Manifest []byte  `json:"manifest"`
	Pass     []byte  `json:"pass,omitempty"`
	Share    float64 `json:"share"`
	// Meetings are how holders of a ticket find each other.
	Meetings []meetingRecord `json:"meetings,omitempty"`
	// Sum is the SHA-256 of the record without it; nil in files of older versions.
	Sum []byte `json:"sum,omitempty"`
}

// sum returns the checksum of the record's other fields. It finds damage that still decodes, for
// example in a pass.
func (r joinedRecord) sum() ([]byte, error) {
	r.Sum = nil
	b, err := json.Marshal(r)
	s := sha256.Sum256(b)
	return s[:], err
}

// meetingRecord is an overlay.Meeting on disk.
type meetingRecord struct {
	Secret  []byte    `json:"secret"`
	Expires time.Time `json:"expires"`
}

// usualShare is the share of an overlay of which nothing is said.
const usualShare = 1

func (j *joined) record() (joinedRecord, error) {
	first, err := j.First.Encode()
	if err != nil {
		return joinedRecord{}, err
	}
	b, err := j.Manifest.Encode()
	r := joinedRecord{First: first, Manifest: b, Pass: j.Pass, Share: j.Share}
	for _, m := range j.Meetings {
		r.Meetings = append(r.Meetings, meetingRecord(m))
	}
	if err != nil {
		return r, err
	}
	r.Sum, err = r.sum()
	return r, err
}

func (r *joinedRecord) open() (joined, error) {
	if sum, err := r.sum(); err != nil || r.Sum != nil && !bytes.Equal(sum, r.Sum) {
		return joined{}, errors.Join(errors.New("the record does not match its checksum"), err)
	}
	first, m, err := openVersions(r.First, r.Manifest)
	if err != nil {
		return joined{}, err
	}
	if !(r.Share > 0) {
		r.Share = usualShare
	}
	j := joined{First: first, Manifest: m, Pass: r.Pass, Share: r.Share}
	for _, x := range r.Meetings[:min(len(r.Meetings), maxMeetings)] {
		j.Meetings = append(j.Meetings, overlay.Meeting(x))
	}
	return j, nil
}

// openVersions reads the first version of a manifest and a later one, or the
// same again, and checks that the founder of the first signed both.
func openVersions(first, newest []byte) (overlay.Manifest, overlay.Manifest, error) {
	f, err := overlay.OpenManifest(first)
	if err != nil {
		return f, f, err
	}
	m, err := overlay.OpenManifest(newest)
	switch {
	case err != nil:
		return f, m, err
	case f.Version != 0:
		return f, m, errors.New("the overlay's first manifest is a later one")
	case m.CID() != f.CID() && !m.Succeeds(&f):
		return f, m, errors.New("the manifest is not of this overlay")
	}
	return f, m, nil
}

// loadJoined returns the overlays to serve: those kept, and those that the
// configuration names; the default one if there are none. IDs and tickets of
// overlays that are not kept are returned apart: somebody has to be asked for
// their manifests.
func (o *overlays) loadJoined() (known []joined, unknown []string, err error) {
	records, err := readJoined(o.cfg.joinedFile())
	if err != nil {
		return nil, nil, err
	}
	for i, r := range records {
		j, err := r.open()
		if err != nil { // without it, the file would be written again without this overlay and its pass
			return nil, nil, fmt.Errorf("reading the overlays joined: %w: %s: overlay %d: %w", ErrDamaged,
				o.cfg.joinedFile(), i+1, err)
		}
		known = append(known, j)
	}
	wanted := o.cfg.Overlays
	if len(wanted) == 0 && len(known) == 0 {
		wanted = []string{DefaultOverlay}
	}
	for _, w := range wanted {
		if slices.ContainsFunc(known, func(j joined) bool { return j.Manifest.Name == w || string(j.Manifest.ID()) == w }) {
			continue
		}
		if isID(w) || isTicket(w) || hasPlace(w) {
			unknown = append(unknown, w)
			continue
		}
		m, err := overlay.Named(w)
		if err != nil {
			return nil, nil, err
		}
		known = append(known, joined{First: m, Manifest: m, Share: usualShare})
	}
	return known, unknown, nil
}

// serveJoined takes up the overlays to serve, and notes those of which others have to
// be asked.
func (o *overlays) serveJoined(ctx context.Context) error {
	known, unknown, err := o.loadJoined()
	if err != nil {
		return err
	}
	if err := o.reopenJobs(ctx); err != nil {
		return err
	}
	for _, j := range known {
		m, err := o.newMembership(ctx, j)
		if err != nil {
			return err
		}
		if err := o.enter(m); err != nil {
			return err
		}
	}
	o.unknown = unknown
	return o.saveJoined()
}

func isID(s string) bool     { _, err := overlay.ParseID(s); return err == nil }
func isTicket(s string) bool { return overlay.IsTicket(s) }

func (c *Config) joinedFile() string { return filepath.Join(c.DataDir, joinedName) }

// maxJoinedFile bounds what is read: as many overlays as a node can be in, with
// the largest manifests, in base64.
const maxJoinedFile = 8 << 20

// readJoined reads the file; without one nothing was joined.
func readJoined(file string) ([]joinedRecord, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the overlays joined: %w", err)
	}
	defer f.Close()
	var records []joinedRecord
	b, err := io.ReadAll(io.LimitReader(f, maxJoinedFile+1))
	if err == nil && len(b) > maxJoinedFile {
		err = fmt.Errorf("more than %d bytes", maxJoinedFile)
	}
	if err == nil {
		err = json.Unmarshal(b, &records) // nothing may follow the list
	}
	if err != nil {
		return nil, fmt.Errorf("reading the overlays joined: %w: %s: %w", ErrDamaged, file, err)
	}
	return records, nil
}

// saveJoined makes the overlays that this node serves durable: the file is
// replaced whole or not at all.
func (o *overlays) saveJoined() error {
	records := []joinedRecord{}
	for _, m := range o.ordered() {
		j := joined{m.first, *m.Manifest(), m.Pass(), m.share, m.meetings}
		r, err := j.record()
		if err != nil {
			return fmt.Errorf("keeping overlay %s: %w", m.Manifest().Name, err)
		}
		records = append(records, r)
	}
	b, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping the overlays joined: %w", err)
	}
	if err := replaceFile(o.cfg.joinedFile(), b); err != nil {
		return fmt.Errorf("keeping the overlays joined: %w", err)
	}
	return nil
}

// replaceFile writes a file so that after a crash it has the old bytes or the
// new ones.
func replaceFile(file string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync() // not every system can; the rename is whole all the same
		return dir.Close()
	}
	return nil
}

// ErrAmbiguous is returned for the name of two overlays that this node serves.
var ErrAmbiguous = errors.New("node: more than one overlay has that name; say its ID")

// find returns the overlay of a name or ID; the default one, or the only one,
// for "".
func (o *overlays) find(nameOrID string) (*membership, error) {
	if m := o.members[overlay.ID(nameOrID)]; m != nil {
		return m, nil
	}
	all := o.ordered()
	if nameOrID == "" {
		if len(all) == 0 {
			return nil, fmt.Errorf("%w: this node serves none; `godwit overlay join commons` joins the open pool",
				ErrUnknownOverlay)
		}
		for _, m := range all {
			if m.Manifest().Name == DefaultOverlay && m.Manifest().Founder == "" {
				return m, nil
			}
		}
		return all[0], nil
	}
	var found *membership
	for _, m := range all {
		if m.Manifest().Name == nameOrID {
			if found != nil {
				return nil, fmt.Errorf("%w: %s", ErrAmbiguous, nameOrID)
			}
			found = m
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownOverlay, nameOrID)
	}
	return found, nil
}
