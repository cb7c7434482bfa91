package freeze_test

import (
	"fmt"
	"strings"

	"godwit/sandbox/wasm"
)

// shortBody is the size in bytes of bodies that hold a constant at most: they are not shown.
const shortBody = 3

// moduleText shows a module's functions as text, near enough to the text format to be read.
func moduleText(b []byte) string {
	m, err := wasm.Decode(b)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	k := 0
	for _, i := range m.Imports {
		if i.Kind == wasm.FuncKind {
			fmt.Fprintf(&out, "import func %d %s.%s %s\n", k, i.Module, i.Name, typeText(m.Types[i.Type]))
			k++
		}
	}
	for f := range m.Code {
		if len(m.Code[f].Body) <= shortBody && exportText(m, uint32(k+f)) == "" {
			continue
		}
		fmt.Fprintf(&out, "func %d%s %s\n", k+f, exportText(m, uint32(k+f)), typeText(m.Types[m.Funcs[f]]))
		x := len(m.Types[m.Funcs[f]].Params)
		for _, d := range m.Code[f].Locals {
			fmt.Fprintf(&out, "  locals from %d on: %d of %s\n", x, d.Count, d.Type)
			x += int(d.Count)
		}
		codeText(&out, m, &m.Code[f])
	}
	return out.String()
}

func exportText(m *wasm.Module, f uint32) string {
	for _, e := range m.Exports {
		if e.Kind == wasm.FuncKind && e.Index == f {
			return fmt.Sprintf(" %q", e.Name)
		}
	}
	return ""
}

func typeText(t wasm.FuncType) string {
	names := func(ts []wasm.ValType) string {
		var out []string
		for _, t := range ts {
			out = append(out, t.String())
		}
		return strings.Join(out, " ")
	}
	return fmt.Sprintf("(%s) -> (%s)", names(t.Params), names(t.Results))
}

func codeText(out *strings.Builder, m *wasm.Module, code *wasm.Code) {
	var in wasm.Instr
	depth := 1
	for r := wasm.NewReader(code); !r.Done(); {
		if err := r.Next(&in); err != nil {
			fmt.Fprintln(out, err)
			return
		}
		if in.Op == wasm.OpEnd || in.Op == wasm.OpElse {
			depth--
		}
		fmt.Fprintf(out, "%s%s%s\n", strings.Repeat("  ", depth), in.Op, immediateText(m, &in))
		switch in.Op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpElse:
			depth++
		}
	}
}

func immediateText(m *wasm.Module, in *wasm.Instr) string {
	o, _ := in.Op.Info()
	switch o.Imm {
	case wasm.ImmBlock:
		t, err := m.BlockType(in.Block)
		if err != nil || in.Block == wasm.BlockVoid {
			return ""
		}
		return " " + typeText(t)
	case wasm.ImmLabel, wasm.ImmIndex:
		return fmt.Sprintf(" %d", in.A)
	case wasm.ImmTable:
		return " " + strings.Trim(fmt.Sprint(in.Labels), "[]")
	case wasm.ImmIndirect, wasm.ImmTwo:
		return fmt.Sprintf(" %d %d", in.A, in.B)
	case wasm.ImmMem, wasm.ImmMemLane:
		return fmt.Sprintf(" offset=%d", in.B)
	case wasm.ImmI32:
		return fmt.Sprintf(" %d", int32(in.Bits))
	case wasm.ImmI64:
		return fmt.Sprintf(" %d", int64(in.Bits))
	case wasm.ImmF32, wasm.ImmF64:
		return fmt.Sprintf(" %#x", in.Bits)
	case wasm.ImmLane:
		return fmt.Sprintf(" %d", in.Lane)
	case wasm.ImmRefType:
		return " " + wasm.ValType(in.A).String()
	}
	return ""
}
