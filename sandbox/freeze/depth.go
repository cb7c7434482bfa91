package freeze

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"godwit/sandbox/wasm"

	"github.com/tetratelabs/wazero"
)

// How deep calls may nest is the engine's affair. wazero's compiler keeps a native stack of up to 400 MB, which is the
// limit that a program has here: beyond it it traps. wazero's interpreter ends at 2,000 frames, too few for many a good
// program. Where it does, that is no word about the program: a machine with the compiler can go on from its last
// checkpoint. (To count the depth in the program, so that all engines trap at the same, would cost a load, a store and
// a test at each entry of a recursive function and a load and a store at each return from it.)

// ErrTooDeep is wrapped by errors about a stack that this host's engine cannot hold and others can.
var ErrTooDeep = errors.New("the task's stack is deeper than this host can hold; one with a compiler for WebAssembly " +
	"can go on from the last checkpoint")

const (
	// enoughFrames is how deep an engine must go for its limit to be taken for the program's: several times what
	// the interpreter holds, and far less than the compiler.
	enoughFrames = 10_000
	// shallow stacks are not worth asking the engine about. The interpreter holds twice as many.
	shallow = 1_000
	// spareFrames are for what runs above the frames of a checkpoint.
	spareFrames = 32
)

// MaxFrames is how many frames of a guest the runtime's engine can hold, and 0 if they are more than enough. It
// tries, at the first call, by running a function that calls itself.
func (h *Host) MaxFrames(ctx context.Context) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.probed {
		return h.maxFrames, nil
	}
	i32 := wasm.I32
	body := wasm.AppendOp(nil, wasm.OpLocalGet)
	body = wasm.AppendOp(append(body, 0), wasm.OpIf)
	body = wasm.AppendOp(append(body, 0x40), wasm.OpLocalGet)
	body = wasm.AppendOp(append(body, 0), wasm.OpI32Const)
	body = wasm.AppendOp(append(body, 1), wasm.OpI32Sub)
	body = wasm.AppendOp(body, wasm.OpCall)
	body = wasm.AppendOp(wasm.AppendOp(append(body, 0), wasm.OpEnd), wasm.OpEnd)
	b := wasm.Encode(&wasm.Module{Types: []wasm.FuncType{{Params: []wasm.ValType{i32}}}, Funcs: []uint32{0},
		Code:    []wasm.Code{{Body: body}},
		Exports: []wasm.Export{{Name: "down", Kind: wasm.FuncKind}}})
	mod, err := h.rt.InstantiateWithConfig(ctx, b, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return 0, fmt.Errorf("try how deep calls may nest: %w", err)
	}
	defer mod.Close(ctx)
	down := mod.ExportedFunction("down")
	n := sort.Search(enoughFrames, func(n int) bool { _, err := down.Call(ctx, uint64(n)); return err != nil })
	if h.probed = true; n < enoughFrames {
		h.maxFrames = n
	}
	return h.maxFrames, nil
}

// fits reports why the engine cannot hold the stack of a state.
func (h *Host) fits(ctx context.Context, p *Program, s *State) error {
	frames, err := p.parseFrames(s.Frames)
	if err != nil || len(frames) < shallow {
		return err
	}
	most, err := h.MaxFrames(ctx)
	if err == nil && most > 0 && len(frames)+spareFrames > most {
		err = fmt.Errorf("%w: %d frames, it holds %d", ErrTooDeep, len(frames), most)
	}
	return err
}

// overflow tells a stack overflow that is the engine's from other errors of a guest, which it gives as they are.
func (h *Host) overflow(ctx context.Context, err error) error {
	head, _, _ := strings.Cut(err.Error(), "\n")
	if !strings.Contains(head, "stack overflow") {
		return err
	}
	if most, _ := h.MaxFrames(ctx); most > 0 {
		return fmt.Errorf("%w: it holds %d frames: %s", ErrTooDeep, most, head)
	}
	return err
}
