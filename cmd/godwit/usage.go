package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
)

// explained makes a wrong number of arguments a usage error with a hint.
func explained(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			check = cobra.NoArgs
		}
		if err := check(cmd, args); err != nil {
			return failure.Usage(fmt.Sprintf("usage: %s", cmd.UseLine()), "%w", err)
		}
		return nil
	}
}

// flagError makes a flag that is not known, or not right, a usage error with a hint.
func flagError(cmd *cobra.Command, err error) error {
	return failure.Usage(fmt.Sprintf("`%s --help` lists the flags", cmd.CommandPath()), "%w", err)
}
