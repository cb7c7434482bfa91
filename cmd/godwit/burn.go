package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"godwit/lab/testbed/local"
)

// newBurn is a hidden verb: work of this machine's owner, for measurements of how
// guests delay it. It does the same work each time, which is not looked at.
func newBurn() *cobra.Command {
	var rounds uint64
	cmd := &cobra.Command{
		Use: "burn", Short: "Use the processor for so many rounds: for experiments", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), local.Burn(rounds))
			return err
		},
	}
	cmd.Flags().Uint64Var(&rounds, "rounds", local.TrialRounds, "how many multiplications, one after the other")
	return cmd
}
