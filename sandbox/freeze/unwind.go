package freeze

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero/api"
)

// regionSize is how much of the guest's memory is borrowed for frames, from address 0 on; more if one frame
// is larger, less if the memory is smaller. Frames beyond it are handed to the host in pieces, so the depth of
// the stack is not bounded by it.
const regionSize = 64 << 10

// region is how much can be borrowed now, 0 if not enough for a frame.
func (m *Machine) region() uint32 {
	need := m.prog.Layout.MaxFrame
	size := min(m.mem.Size(), max(regionSize, 2*need))
	if size == 0 && m.mem.Size() == 0 { // 4 GiB reads as 0 only if there really are 65536 pages
		if g, _ := m.mem.Grow(0); g == 1<<16 {
			size = max(regionSize, 2*need)
		}
	}
	if size < need {
		return 0
	}
	return size
}

// beginUnwind borrows the region and tells the guest to leave its frames there. It is called in yield.
func (m *Machine) beginUnwind() {
	m.since = time.Now()
	m.borrowRegion()
	m.frames = m.frames[:0]
	m.sp.Set(0)
	m.end.Set(uint64(m.region() - m.prog.Layout.MaxFrame))
	m.state.Set(1)
	m.phase = phaseUnwind
	m.stats.Unwinds++
}

func (m *Machine) borrowRegion() {
	b, _ := m.mem.Read(0, m.region())
	m.borrow = append(m.borrow[:0], b...)
}

// takeFrames moves the frames in the region to the host's side.
func (m *Machine) takeFrames() {
	b, _ := m.mem.Read(0, uint32(m.sp.Get()))
	m.frames = append(m.frames, b...)
	m.sp.Set(0)
}

// unwound is called when the guest has returned with its stack empty.
func (m *Machine) unwound() error {
	m.takeFrames()
	m.mem.Write(0, m.borrow)
	m.state.Set(0)
	if len(m.frames) == 0 {
		return errors.New("the guest left no frame")
	}
	return nil
}

// frame is one frame of a stopped guest.
type frame struct {
	at, size uint32 // in frames, without the trailer
	point    uint32
}

// parseFrames splits the frames of a stopped guest, outermost first, and checks that they fit together: each
// calls what the next is a frame of, and the innermost is at a poll.
func (p *Program) parseFrames(b []byte) ([]frame, error) {
	var out []frame
	var refs [2]uint32
	for end := len(b); end > 0; {
		if end < trailerSize {
			return nil, fmt.Errorf("frame %d is cut short", len(out))
		}
		t := b[end-trailerSize : end]
		f := frame{size: binary.LittleEndian.Uint32(t[4:]), point: binary.LittleEndian.Uint32(t)}
		fn, k, err := p.find(f.point)
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", len(out), err)
		}
		pt := &fn.points[k]
		if pt.size != f.size || uint64(f.size)+trailerSize > uint64(end) {
			return nil, fmt.Errorf("frame %d has %d bytes, its safe point leaves %d", len(out), f.size, pt.size)
		}
		if err := p.fits(out, fn); err != nil {
			return nil, fmt.Errorf("frame %d: %w", len(out), err)
		}
		refs[0], refs[1] = refs[0]+pt.refs[0], refs[1]+pt.refs[1]
		end -= int(f.size) + trailerSize
		f.at = uint32(end)
		out = append(out, f)
		if last := end == 0; last != (pt.kind != pointCall) {
			return nil, fmt.Errorf("frame %d: only the innermost frame, and that always, is at a poll", len(out)-1)
		}
	}
	return out, nil
}

// fits checks that function callee can be called from the last of the frames.
func (p *Program) fits(callers []frame, callee *function) error {
	if len(callers) == 0 {
		return nil
	}
	fn, k, err := p.find(callers[len(callers)-1].point)
	if err != nil {
		return err
	}
	i := &fn.ins[fn.points[k].ins]
	if i.op == wasm.OpCall && int(i.a) != callee.index {
		return fmt.Errorf("function %d does not call function %d there", fn.index, callee.index)
	}
	if i.op == wasm.OpCallIndirect && !p.plan.mod.Types[i.a].Equal(callee.typ) {
		return fmt.Errorf("function %d cannot call function %d there", fn.index, callee.index)
	}
	return nil
}

// rewind prepares the guest to go on from its frames and gives the function that does.
func (m *Machine) rewind(ctx context.Context) (api.Function, error) {
	frames, err := m.prog.parseFrames(m.frames)
	if err != nil {
		return nil, err
	}
	if err := m.makeResumes(ctx, frames); err != nil {
		return nil, err
	}
	region := m.region()
	if region == 0 {
		return nil, ErrNoRoom
	}
	work := bytes.Clone(m.frames)
	m.chunks = m.chunks[:0]
	end := uint32(len(work))
	for k, f := range frames {
		if k+1 < len(frames) {
			binary.LittleEndian.PutUint32(work[f.at+f.size+4:], m.code.slots[frames[k+1].point])
		}
		if end-f.at > region { // this one does not fit with those outside it
			m.chunks = append(m.chunks, work[f.at+f.size+trailerSize:end])
			end = f.at + f.size + trailerSize
		}
	}
	m.chunks = append(m.chunks, work[:end])
	// The outermost frames are wanted first, so the pieces are in order; handing out takes from the front.
	m.borrowRegion()
	m.phase = phaseRewind
	m.handOut()
	return m.code.funcs[m.code.slots[frames[0].point]], nil
}

// handOut puts the next piece of the frames into the region.
func (m *Machine) handOut() {
	m.mem.Write(0, m.chunks[0])
	m.sp.Set(uint64(len(m.chunks[0])))
	m.chunks = m.chunks[1:]
}

// arrived is called when the innermost resume function has its frame: the region is given back.
func (m *Machine) arrived() {
	m.mem.Write(0, m.borrow)
	m.sp.Set(0)
	m.frames = m.frames[:0]
	m.phase = phaseRun
	m.wentOn()
}
