package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newBurn is a hidden verb: work of this machine's owner, for measurements of how
// guests delay it. It does the same work each time, which is not looked at.
func newBurn() *cobra.Command {
	var rounds uint64
	cmd := &cobra.Command{
		Use: "burn", Short: "Use the processor for so many rounds: for experiments", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), burn(rounds))
			return err
		},
	}
	cmd.Flags().Uint64Var(&rounds, "rounds", burnTrial, "how many multiplications, one after the other")
	return cmd
}

// burnTrial is what a machine is tried with: a tenth of a second or so.
const burnTrial = 100_000_000

// burn steps a linear congruential generator (Knuth's MMIX), in which each step needs
// the one before.
func burn(rounds uint64) uint64 {
	x := rounds
	for range rounds {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// endless is a module that works until it is ended. In the text format:
//
//	(module (memory (export "memory") 1) (func (export "_start") (loop br 0)))
var endless = append(noop[:len(noop)-6:len(noop)-6],
	0x0a, 0x09, 0x01, 0x07, 0x00, 0x03, 0x40, 0x0c, 0x00, 0x0b, 0x0b) // code: no locals, loop, br 0, end, end
