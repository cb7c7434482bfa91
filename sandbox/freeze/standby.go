package freeze

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
)

// Standby is a guest whose state comes in stages: pages are placed in its memory as they come, and the last manifest
// only has to change what differs. What it costs to go on depends on what the last stage changes, not on the memory.
// After an error it can only be closed.
type Standby struct {
	m   *Machine
	r   *Recorder
	max uint32 // pages that the memory may have
}

// Placing is a page for a Standby: the block of a hash.
type Placing struct {
	Number uint32
	Hash   Hash
	Block  []byte
}

// Standby makes an instance of the module for a state to come, whose memory may have so many pages. The recorder, which
// must be new, knows all pages when the guest goes on: its next checkpoint is one after the last manifest. zero makes
// zeros of a part of the memory.
func (h *Host) Standby(ctx context.Context, prog *Program, compiled wazero.CompiledModule, cfg Config, r *Recorder,
	pages uint32, zero func([]byte)) (*Standby, error) {
	m, err := h.Instantiate(ctx, prog, compiled, cfg)
	if err != nil {
		return nil, err
	}
	s := &Standby{m: m, r: r, max: min(pages, maxPages)}
	if prog.Layout.Memory {
		zero(m.Memory()) // the module's own data segments
		r.expectZeros(int(m.Pages()))
	}
	return s, nil
}

// Close ends a guest that did not go on.
func (s *Standby) Close(ctx context.Context) error { return s.m.Close(ctx) }

// Memory is the guest's memory as far as it goes now.
func (s *Standby) Memory() []byte { return s.m.Memory() }

// Place puts pages into the memory, each checked against its hash. Errors wrap ErrCheckpoint.
func (s *Standby) Place(pages []Placing) error {
	top := s.m.Pages()
	for _, p := range pages {
		if p.Number >= s.max {
			return fmt.Errorf("%w: page %d of a memory that may have %d", ErrCheckpoint, p.Number, s.max)
		}
		top = max(top, p.Number+1)
	}
	if err := s.grow(top); err != nil {
		return err
	}
	pages = lastOfEach(pages) // two at once would race for a page
	memory := s.m.Memory()
	return share(len(pages), storeShare, func(from, to int) error {
		for _, p := range pages[from:to] {
			at := int(p.Number) * pageSize
			if err := s.place(p, memory[at:at+pageSize:at+pageSize]); err != nil {
				return fmt.Errorf("page %d: %w", p.Number, err)
			}
		}
		return nil
	})
}

// lastOfEach leaves out pages that come again.
func lastOfEach(pages []Placing) []Placing {
	last := make(map[uint32]int, len(pages))
	for k, p := range pages {
		last[p.Number] = k
	}
	if len(last) == len(pages) {
		return pages
	}
	var out []Placing
	for k, p := range pages {
		if last[p.Number] == k {
			out = append(out, p)
		}
	}
	return out
}

func (s *Standby) place(p Placing, room []byte) error {
	page, err := Decompress(p.Block, p.Hash)
	if err != nil {
		return err
	}
	copy(room, page)
	s.r.place(p.Number, p.Hash, page)
	return nil
}

func (s *Standby) grow(pages uint32) error {
	if !s.m.prog.Layout.Memory {
		if pages > 0 {
			return fmt.Errorf("%w: memory for a module that has none", ErrCheckpoint)
		}
		return nil
	}
	if err := s.m.growTo(pages); err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	s.r.expectZeros(int(pages))
	return nil
}

// Stage makes the memory that of a manifest, all of whose pages have been placed. The manifest must fit the
// program (see
// Manifest.Fits). What the guest needs to go on from there is made ready, so that going on from a later stage with the
// same functions on the stack costs less.
func (s *Standby) Stage(ctx context.Context, man *Manifest) error {
	frames, err := s.m.prog.parseFrames(man.State.Frames)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if err := s.m.host.fits(ctx, s.m.prog, &man.State); err != nil {
		return err
	}
	s.m.beginResumes(ctx, frames)
	err = s.become(man)
	if g := s.m.code.making; g != nil {
		g.wait()
		if err == nil {
			err = s.m.linkResumes(ctx, g)
		}
	}
	return err
}

// become makes the memory that of a manifest.
func (s *Standby) become(man *Manifest) error {
	if man.State.Pages > s.max {
		return fmt.Errorf("%w: memory of %d pages, it may have %d", ErrCheckpoint, man.State.Pages, s.max)
	}
	if err := s.grow(man.State.Pages); err != nil {
		return err
	}
	memory, next := s.m.Memory(), uint32(0)
	for _, p := range man.Pages {
		s.vanish(memory, next, p.Number)
		if !s.r.has(p.Number, p.Hash) {
			return fmt.Errorf("%w: page %d has not come", ErrCheckpoint, p.Number)
		}
		next = p.Number + 1
	}
	s.vanish(memory, next, man.State.Pages)
	return nil
}

// vanish makes zeros of the pages from..to-1, which a manifest leaves out.
func (s *Standby) vanish(memory []byte, from, to uint32) {
	for n := from; n < to; n++ {
		if p := &s.r.seen[n]; !p.zero {
			clear(memory[int(n)*pageSize : int(n+1)*pageSize])
			*p = seenPage{sum: s.r.zero, zero: true, known: true}
		}
	}
}

// Thaw is Stage with the last manifest. Resume of the machine that it gives goes on from there; the Standby is of
// no use
// any more.
func (s *Standby) Thaw(ctx context.Context, man *Manifest) (*Machine, error) {
	if len(man.State.Frames) == 0 {
		return nil, fmt.Errorf("%w: of a guest that is in no call", ErrCheckpoint)
	}
	if err := s.m.prog.Check(&man.State); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if err := s.Stage(ctx, man); err != nil {
		return nil, err
	}
	if err := s.m.restoreRest(ctx, &man.State); err != nil {
		return nil, errors.Join(ErrCheckpoint, err)
	}
	return s.m, nil
}
