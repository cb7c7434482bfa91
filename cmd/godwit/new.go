package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/lab/toolchain"
)

func newNew() *cobra.Command {
	var lang string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new --lang LANGUAGE DIR",
		Short: "Begin a program: ten lines, a job file and a test",
		Long: `Begin a program in a new directory: ten lines that print the square of a number, a
job file with a sweep, and a test that runs the program here without a node.`,
		Example: `  godwit new --lang rust square
  square/test`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if lang == "" {
				return failure.Usage("write --lang with one of "+strings.Join(toolchain.Names(), ", "), "no language is given")
			}
			written, err := toolchain.New(lang, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return table.JSON(cmd.OutOrStdout(), map[string]any{"language": lang, "files": written})
			}
			for _, path := range written {
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "", "`LANGUAGE` of the program: "+strings.Join(toolchain.Names(), ", "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
