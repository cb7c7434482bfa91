package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
)

// openName is the file in the data directory that leads a browser to the dashboard.
const openName = "open.html"

func newOpen() *cobra.Command {
	var c clientFlags
	var show bool
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the node's dashboard in a browser",
		Long: `Open the node's dashboard in a browser. The link is good once, for two minutes. Its tab stays let in for twelve
hours after it was last used.`,
		Example: `  godwit open
  godwit open --print   for a browser that is started by hand`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(&c, func(client *api.Client) error {
				reply, err := client.OpenCode(cmd.Context())
				if err != nil {
					return err
				}
				if show {
					fmt.Fprintln(cmd.OutOrStdout(), reply.URL)
					return nil
				}
				return openBrowser(cmd.Context(), cmd.OutOrStdout(), c.dataDir, reply.URL)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVar(&show, "print", false, "print the link, and start nothing")
	return cmd
}

// openBrowser leads a browser to a link by a file that the owner alone can read: a command line can be read by
// every user of the machine, and the link lets in who follows it first.
func openBrowser(ctx context.Context, out io.Writer, dir, link string) error {
	page := filepath.Join(dir, openName)
	text := fmt.Sprintf("<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer>"+
		"<meta http-equiv=refresh content=\"0;url=%s\"><title>Godwit</title>\n", html.EscapeString(link))
	if err := os.Remove(page); err != nil && !os.IsNotExist(err) { // with whatever mode it has
		return fmt.Errorf("writing the link: %w", err)
	}
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing the link: %w", err)
	}
	path, err := filepath.Abs(page)
	if err != nil {
		return err
	}
	opener := opener(path)
	if err := exec.CommandContext(ctx, opener[0], opener[1:]...).Run(); err != nil {
		return &failure.Error{Code: failure.ExitFailed, Err: fmt.Errorf("no browser could be started: %w", err),
			Hint: "`godwit open --print` prints the link"}
	}
	fmt.Fprintln(out, "The dashboard opens in your browser.")
	return nil
}

// opener is the command of the system that opens a file with the program that the owner has chosen.
func opener(path string) []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", path}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", path}
	}
	return []string{"xdg-open", path}
}
