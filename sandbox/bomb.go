package sandbox

import (
	"fmt"

	decoder "godwit/sandbox/wasm"
)

// A weight is what of a function makes it dear to compile.
type weight struct {
	bytes  int64
	locals int64 // parameters left out
	blocks int64 // blocks, loops and ifs, and targets of tables of branches
	nested int64 // blocks around one place, at most
	joins  int64 // blocks times locals: what the compiler may have to join where ways meet
}

// weigh reads a function. What cannot be read ends it: validation says what is wrong.
func weigh(c *decoder.Code) weight {
	w := weight{bytes: int64(len(c.Body))}
	for _, d := range c.Locals {
		w.locals += int64(d.Count)
	}
	var in decoder.Instr
	open := int64(0)
	for r := decoder.NewReader(c); !r.Done() && r.Next(&in) == nil; {
		switch in.Op {
		case decoder.OpBlock, decoder.OpLoop, decoder.OpIf:
			w.blocks++
			open++
			w.nested = max(w.nested, open)
		case decoder.OpBrTable:
			w.blocks += int64(len(in.Labels))
		case decoder.OpEnd:
			open--
		}
	}
	w.joins = w.blocks * w.locals
	return w
}

// The most that a function may weigh. The compiler's time grows with the square of the blocks: 5,000 ifs in a row took
// it 0.5 s of processor time, 20,000 took 10 s. Its memory grows by 9 kB for a block and by .1 kB for each of the
// joins. Of the corpus of real programs the heaviest are:
//
//	bytes      666,321 (Go's compiler)  228,454 (yosys)    200,128 (esbuild)
//	blocks      21,151 (Go's compiler)   14,903 (CPython)   10,120 (esbuild)
//	nested       7,740 (Go's compiler)    3,289 (esbuild)      570 (gofmt)
//	locals         228 (yosys)               74 (zstd)          65 (flite)
//	joins      226,982 (yosys)          131,560 (esbuild)  111,214 (Go's compiler)
var heaviest = weight{bytes: 2 << 20, locals: 5_000, blocks: 30_000, nested: 20_000, joins: 1_000_000}

// excess says in what a function weighs more than it may; "" for nothing.
func (w weight) excess() string {
	for _, k := range []struct {
		what      string
		has, most int64
	}{
		{"bytes", w.bytes, heaviest.bytes}, {"locals", w.locals, heaviest.locals},
		{"blocks and targets of branches", w.blocks, heaviest.blocks},
		{"blocks inside each other", w.nested, heaviest.nested},
		{"blocks times locals", w.joins, heaviest.joins},
	} {
		if k.has > k.most {
			return fmt.Sprintf("has %d %s, the most is %d", k.has, k.what, k.most)
		}
	}
	return ""
}

// checkFunctions refuses a module that would take too long to compile, with the function that is the reason. What
// cannot be decoded is malformed, which the caller words: wazero would make room for as many locals as a function says
// before it looks for them, 7 GiB for 50 bytes.
func checkFunctions(wasm []byte, malformed func(error) error) error {
	m, err := decoder.Decode(wasm)
	if err != nil {
		return malformed(err)
	}
	for i := range m.Code {
		if why := weigh(&m.Code[i]).excess(); why != "" {
			return invalid(TooLarge, "split it up, or build with less inlining", "%s %s", functionName(m, i), why)
		}
	}
	return nil
}

// functionName names a function that a module defines, by number and, where it has one, by name.
func functionName(m *decoder.Module, defined int) string {
	n := m.Imported(decoder.FuncKind) + defined
	if name := m.FuncName(n); name != "" {
		return fmt.Sprintf("function %d (%s)", n, name)
	}
	return fmt.Sprintf("function %d", n)
}

// heaviestFunction names the function with the most blocks, for who wants to know what took so long.
func heaviestFunction(wasm []byte) string {
	m, err := decoder.Decode(wasm)
	if err != nil || len(m.Code) == 0 {
		return "it has no functions"
	}
	at, most := 0, weight{}
	for i := range m.Code {
		w := weigh(&m.Code[i])
		if w.blocks > most.blocks || w.blocks == most.blocks && w.bytes > most.bytes {
			at, most = i, w
		}
	}
	return fmt.Sprintf("the heaviest is %s, of %d bytes and %d blocks", functionName(m, at), most.bytes, most.blocks)
}

// What a function takes of the compiler's memory: see heaviest.
const (
	bytesForBlock = 9 << 10
	bytesForJoin  = 100
)

// compilersFor returns how many functions of a module may be compiled at once, at most so many: one where any function
// takes so much memory that two like it would not be within what a load may take.
func compilersFor(wasm []byte, most int) int {
	m, err := decoder.Decode(wasm)
	if err != nil {
		return 1
	}
	for i := range m.Code {
		w := weigh(&m.Code[i])
		if int64(most)*(w.blocks*bytesForBlock+w.joins*bytesForJoin) > loadWithin/2 {
			return 1
		}
	}
	return most
}
