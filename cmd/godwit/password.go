package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/api/door"
	"godwit/internal/failure"
)

func newPassword() *cobra.Command {
	var dir string
	var remove bool
	cmd := &cobra.Command{
		Use:   "password",
		Short: "Set the dashboard's password, for other machines of your network",
		Long: `Set the dashboard's password, read as one line of standard input. It lets browsers in at the address of
` + "`godwit up --lan`" + `, over TLS, and counts at once.`,
		Example: `  godwit password < password.txt
  godwit password --remove`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file := filepath.Join(dir, api.PasswordName)
			if remove {
				if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("removing the password: %w", err)
				}
				fmt.Fprintln(cmd.OutOrStdout(), "No password lets anybody in.")
				return nil
			}
			return setPassword(cmd.InOrStdin(), cmd.OutOrStdout(), dir, file)
		},
	}
	cmd.Flags().StringVar(&dir, "data-dir", defaultDataDir(), "data directory `DIR` of the node")
	cmd.Flags().BoolVar(&remove, "remove", false, "let nobody in by a password any more")
	return cmd
}

// setPassword keeps the line that in has.
func setPassword(in io.Reader, out io.Writer, dir, file string) error {
	line, err := bufio.NewReader(io.LimitReader(in, door.MostPassword+2)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the password: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if n := len(password); n < door.LeastPassword || n > door.MostPassword {
		return failure.Usage("four words drawn at random are good", "a password has %d to %d bytes, not %d",
			door.LeastPassword, door.MostPassword, n)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	if err := door.SetPassword(file, password); err != nil {
		return err
	}
	fmt.Fprintln(out, "The password is set. `godwit up --lan 0.0.0.0:7734` serves the dashboard to your network.")
	return nil
}
