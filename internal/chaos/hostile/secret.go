package hostile

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"godwit/p2p/wire"
	"godwit/task"
)

// secrets are what others are not to read.
func secrets() []attack {
	return []attack{{id: "S16", play: playSecrets,
		before: "blocks of a closed overlay were read by anybody who knew their names, as ex-members do"}}
}

// moduleName is the block of the program that honest tasks run.
func (f *field) moduleName() (name, error) {
	b, err := os.ReadFile(f.guest)
	return nameOf(rawCodec, b), err
}

// reads reports whether a node gives a block to a stranger.
func (s *stranger) reads(ctx context.Context, from task.PeerID, n name) bool {
	_, ok := s.read(ctx, from, n)
	return ok
}

// read returns a block that a node gives to a stranger.
func (s *stranger) read(ctx context.Context, from task.PeerID, n name) (b []byte, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	stream, end, err := s.host.AskBlocks(ctx, from)
	if err != nil {
		return nil, false
	}
	defer end()
	_ = stream.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := stream.Write(append(binary.AppendUvarint(nil, uint64(len(n))), n[:]...)); err != nil {
		return nil, false
	}
	r := bufio.NewReader(stream)
	const here = 0
	if status, err := r.ReadByte(); err != nil || status != here {
		return nil, false
	}
	b, err = wire.ReadFrame(r, wire.MaxBlock, nil)
	return b, err == nil && nameOf(n[1], b) == n
}

// inputOf is the block of a closed overlay's job's only input, as an insider finds it in the
// record.
func (f *field) inputOf(ctx context.Context, job name) (input name, err error) {
	s, err := f.stranger(ctx, insider)
	if err != nil {
		return input, err
	}
	err = errors.New("no node gives the record to an insider")
	for _, n := range f.nodes {
		b, ok := s.read(ctx, n.Peer(), job)
		if !ok {
			continue
		}
		rec, err := task.DecodeRecord(b)
		if err != nil {
			return input, err
		}
		spec, err := rec.Open()
		if err != nil {
			return input, err
		}
		if len(spec.Inputs) != 1 {
			return input, fmt.Errorf("the job has %d inputs", len(spec.Inputs))
		}
		return nameFrom(spec.Inputs[0].CID)
	}
	return input, err
}

func playSecrets(ctx context.Context, f *field, row *Row) error {
	secret := noise(uint64(time.Now().UnixNano()))
	if err := os.WriteFile(filepath.Join(f.dir, "secret.bin"), secret, 0o600); err != nil {
		return err
	}
	var job *prey
	keep := func(p *prey) error { job = p; return nil }
	if err := f.hunted(ctx, row, closedName, 2, "files: [secret.bin]\n", keep); err != nil || job == nil {
		return err
	}
	id, err := nameFrom(task.CID(job.id))
	if err != nil {
		return err
	}
	input, err := f.inputOf(ctx, id)
	if err != nil {
		return err
	}
	blocks := []name{id, input}
	if input == nameOf(rawCodec, secret) {
		row.broke("an input of a closed overlay's job is not sealed")
	}
	r, err := f.readers(ctx, row, job.id, blocks)
	if err != nil {
		return err
	}
	after, err := f.readsAfterAll(ctx, r.last, blocks)
	if err != nil {
		return err
	}
	row.tried(r.asked[passerby]+r.asked[fellow], "wishes for the record and an input of a job of a closed overlay, and "+
		"questions about it, by strangers and members of the open pool; and wishes by an insider whose invitation was "+
		"taken back")
	row.now("strangers got %d blocks of %d, members of another pool %d of %d, %d questions were answered; an "+
		"insider got %d of %d, and %d afterwards", r.got[passerby], r.asked[passerby], r.got[fellow], r.asked[fellow],
		r.answers, r.got[insider], r.asked[insider], after)
	if r.got[passerby]+r.got[fellow]+r.answers > 0 {
		row.broke("who is no member got %d blocks and %d answers", r.got[passerby]+r.got[fellow], r.answers)
	}
	if r.got[insider] == 0 {
		row.broke("a member gets no block")
	}
	if after > 0 {
		row.broke("whose invitation was taken back got %d blocks", after)
	}
	return nil
}

// readers counts what peers of all guises were given.
type readers struct {
	got, asked map[guise]int // blocks
	answers    int           // to questions
	last       *stranger     // an insider
}

// readers has peers of all guises ask for blocks and for a job.
func (f *field) readers(ctx context.Context, row *Row, job task.JobID, blocks []name) (*readers, error) {
	list, err := f.pools(ctx, f.victim())
	if err != nil {
		return nil, err
	}
	r := &readers{got: map[guise]int{}, asked: map[guise]int{}}
	for _, as := range guises {
		if r.last, err = f.stranger(ctx, as); err != nil {
			return nil, err
		}
		for range max(1, f.Times/10) {
			for _, n := range f.nodes {
				for _, b := range blocks {
					r.asked[as]++
					if r.last.reads(ctx, n.Peer(), b) {
						r.got[as]++
					}
				}
			}
			if as == insider {
				break
			}
			r.answers += r.last.asksAbout(ctx, list[closedName].Leader, job)
			row.Times += len(questions)
		}
	}
	return r, nil
}

// readsAfterAll has the founder take all invitations back, and counts the blocks that an
// insider of before gets then. Later insiders have a new ticket.
func (f *field) readsAfterAll(ctx context.Context, s *stranger, blocks []name) (got int, err error) {
	v := f.victim()
	if _, err := v.Verb(ctx, f.dir, "overlay", "change", closedName, "--revoke-invitations"); err != nil {
		return 0, err
	}
	if f.ticket, err = v.Verb(ctx, f.dir, "overlay", "invite", closedName); err != nil {
		return 0, err
	}
	if err := until(ctx, gatherLimit, func() error { // once it knows the new rules
		_, err := f.helper().Verb(ctx, f.dir, "overlay", "join", f.ticket)
		return err
	}); err != nil {
		return 0, err
	}
	if _, err := f.leader(ctx, closedName); err != nil {
		return 0, err
	}
	for _, n := range f.nodes {
		for _, b := range blocks {
			if s.reads(ctx, n.Peer(), b) {
				got++
			}
		}
	}
	return got, nil
}

// questions are those that a leader answers members.
var questions = []string{"jobs", "job", "why", "scheduling"}

// asksAbout asks about a job of the closed overlay, and counts the answers.
func (s *stranger) asksAbout(ctx context.Context, leader task.PeerID, id task.JobID) (n int) {
	body, _ := json.Marshal(map[string]any{"overlay": s.f.closed, "job": id, "from": 0,
		"limit": 10}) // of texts and numbers
	for _, method := range questions {
		if _, err := s.host.Request(ctx, leader, method, body); err == nil {
			n++
		}
	}
	return n
}
