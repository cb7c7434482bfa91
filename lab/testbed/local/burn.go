package local

import "godwit/internal/noop"

// TrialRounds is what a machine is tried with: a tenth of a second or so.
const TrialRounds = 100_000_000

// Burn steps a linear congruential generator (Knuth's MMIX), in which each step needs
// the one before.
func Burn(rounds uint64) uint64 {
	x := rounds
	for range rounds {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// endless is a module that works until it is ended. In the text format:
//
//	(module (memory (export "memory") 1) (func (export "_start") (loop br 0)))
var endless = append(noop.Module[:len(noop.Module)-6:len(noop.Module)-6],
	0x0a, 0x09, 0x01, 0x07, 0x00, 0x03, 0x40, 0x0c, 0x00, 0x0b, 0x0b) // code: no locals, loop, br 0, end, end
