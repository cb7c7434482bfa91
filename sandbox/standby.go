package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
)

// A standby is a task in a child whose state comes in stages.
type standby struct {
	x     *execution
	guest *freeze.Standby
	files map[[sha256.Size]byte][]byte // contents of blocks of files, checked
}

// collectWhileWaiting is how far the garbage of a waiting child may grow, in
// percent of what is live: all that comes is garbage once it is placed, and no
// guest runs that a collection could wait for.
const collectWhileWaiting = 100

// standBy takes the stages in, and makes the machine with the last.
func (x *execution) standBy(ctx context.Context, e *engine) error {
	defer debug.SetGCPercent(debug.SetGCPercent(collectWhileWaiting))
	guest, err := e.host.Standby(ctx, x.program, e.code, x.config(), &x.recorder, uint32(x.req.Limits.Memory/pageSize),
		zero)
	if err != nil {
		return err
	}
	s := &standby{x: x, guest: guest, files: map[[sha256.Size]byte][]byte{}}
	if err := s.takeIn(ctx); err != nil {
		return errors.Join(err, guest.Close(ctx))
	}
	return nil
}

func (s *standby) takeIn(ctx context.Context) error {
	if err := s.x.out.event(event{Standby: true}); err != nil {
		return err
	}
	for {
		f := <-s.x.mail.stages
		var err error
		switch {
		case f.Place != nil:
			err = s.place(f.Place, f.body)
		case f.Stage.Last:
			return s.goOn(ctx, f.body)
		default:
			err = s.load(ctx, f.body)
		}
		if err != nil {
			return err
		}
	}
}

// place takes in blocks.
func (s *standby) place(r *placeReq, body []byte) error {
	if len(r.Pages) > len(r.Sizes) {
		return errors.New("more pages than blocks")
	}
	pages := make([]freeze.Placing, 0, len(r.Pages))
	for k, size := range r.Sizes {
		if size < 0 || size > len(body)-sha256.Size {
			return errors.New("blocks shorter than was said")
		}
		h := [sha256.Size]byte(body[:sha256.Size])
		block := body[sha256.Size : sha256.Size+size]
		body = body[sha256.Size+size:]
		if k < len(r.Pages) {
			pages = append(pages, freeze.Placing{Number: r.Pages[k], Hash: h, Block: block})
			continue
		}
		var err error
		if s.files[h], err = freeze.Decompress(block, h); err != nil {
			return fmt.Errorf("content of a file: %w", err)
		}
	}
	return s.guest.Place(pages)
}

// load takes in a manifest that is not the last. What the last would be refused
// for, as this one is, is found now, while the task still runs elsewhere.
func (s *standby) load(ctx context.Context, b []byte) error {
	man, err := s.manifest(b)
	if err != nil {
		return err
	}
	begins, err := s.x.begins()
	if err != nil {
		return err
	}
	if err := s.x.state.Check(man.System, begins); err != nil {
		return err
	}
	if err := s.forget(man); err != nil {
		return err
	}
	if err := s.guest.Stage(ctx, man); err != nil {
		return err
	}
	if s.x.req.tracks() { // to watch all of a memory takes longer than what changed
		s.x.mem.unchanged(s.guest.Memory())
	}
	return s.x.out.event(event{Staged: true})
}

func (s *standby) manifest(b []byte) (*freeze.Manifest, error) {
	man, err := freeze.DecodeManifest(b)
	if err != nil {
		return nil, err
	}
	return man, s.x.fits(man)
}

// forget drops the blocks of files that a manifest does not name.
func (s *standby) forget(man *freeze.Manifest) error {
	hashes, err := wasi.Blocks(man.System)
	if err != nil {
		return err
	}
	keep := make(map[[sha256.Size]byte][]byte, len(s.files))
	for _, h := range hashes {
		if b, ok := s.files[h]; ok {
			keep[h] = b
		}
	}
	s.files = keep
	return nil
}

// goOn puts the task into the state of the last manifest.
func (s *standby) goOn(ctx context.Context, b []byte) error {
	x := s.x
	man, err := s.manifest(b)
	if err != nil {
		return err
	}
	begins, err := x.begins()
	if err != nil {
		return err
	}
	marks, err := x.state.Load(man.System, begins, s.file)
	if err != nil {
		return err
	}
	if err := s.forget(man); err != nil {
		return err
	}
	if x.machine, err = s.guest.Thaw(ctx, man); err != nil {
		return err
	}
	for _, p := range man.Pages {
		x.known.add(p.Hash)
	}
	for h := range s.files {
		x.known.add(h)
	}
	x.restored(marks)
	return nil
}

// file gives the content of a block of a file.
func (s *standby) file(h [sha256.Size]byte) ([]byte, error) {
	if b, ok := s.files[h]; ok {
		return b, nil
	}
	return nil, fmt.Errorf("block %x has not come", h[:8])
}
