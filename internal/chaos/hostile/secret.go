package hostile

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
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
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	stream, end, err := s.host.AskBlocks(ctx, from)
	if err != nil {
		return false
	}
	defer end()
	_ = stream.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := stream.Write(append(binary.AppendUvarint(nil, uint64(len(n))), n[:]...)); err != nil {
		return false
	}
	r := bufio.NewReader(stream)
	const here = 0
	if status, err := r.ReadByte(); err != nil || status != here {
		return false
	}
	b, err := wire.ReadFrame(r, wire.MaxBlock, nil)
	return err == nil && nameOf(n[1], b) == n
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
	list, err := f.pools(ctx, f.victim())
	if err != nil {
		return err
	}
	blocks := []name{id, nameOf(rawCodec, secret)}
	got, asked, answers := map[guise]int{}, map[guise]int{}, 0
	for _, as := range guises {
		s, err := f.stranger(ctx, as)
		if err != nil {
			return err
		}
		for range max(1, f.Times/10) {
			for _, n := range f.nodes {
				for _, b := range blocks {
					asked[as]++
					if s.reads(ctx, n.Peer(), b) {
						got[as]++
					}
				}
			}
			if as == insider {
				break
			}
			answers += s.asksAbout(ctx, list[closedName].Leader, job.id)
			row.Times += len(questions)
		}
	}
	row.tried(asked[passerby]+asked[fellow], "wishes for the record and an input of a job of a closed overlay, and "+
		"questions "+
		"about it, by strangers and members of the open pool")
	row.now("strangers got %d blocks of %d, members of another pool %d of %d, %d questions were answered; an "+
		"insider got %d "+
		"of %d", got[passerby], asked[passerby], got[fellow], asked[fellow], answers, got[insider], asked[insider])
	if got[passerby]+got[fellow]+answers > 0 {
		row.broke("who is no member got %d blocks and %d answers", got[passerby]+got[fellow], answers)
	}
	if got[insider] == 0 {
		row.broke("a member gets no block")
	}
	return nil
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
