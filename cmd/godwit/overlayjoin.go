package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
)

// inviteLife is how long a ticket is good for unless told otherwise: a week, in
// which most people read their mail.
const inviteLife = 7 * 24 * time.Hour

func newOverlayJoin() *cobra.Command {
	var c clientFlags
	var share float64
	cmd := &cobra.Command{
		Use:   "join NAME|ID|NAME@ADDRESS|@FILE|-",
		Short: "Serve an overlay and print its ID",
		Long: `Serve an overlay and print its ID. A NAME alone is the open pool of that name, which
nobody founded; an ID is an overlay that a peer in reach serves. Behind either may
stand @ and the address of a member, as "godwit status" prints it there: the node goes
to it first, and needs to know nobody else. A ticket comes from the founder's "godwit
overlay invite", and has such addresses in it: it is read from a FILE, or with - from
the standard input. It may be given as it is, too, but then every user of this
machine can see it in the list of processes, and join. A node that serves several
overlays divides itself among them by their shares, and serves them again when it
is started again.`,
		Example: `  godwit overlay join commons
  godwit overlay join commons@/ip4/192.0.2.1/tcp/24001/p2p/12D3KooW...
  godwit overlay join @ticket --share 3
  pass show lab-ticket | godwit overlay join -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(share > 0) {
				return failure.Usage("for example --share 2", "--share must be above 0")
			}
			what, err := overlayNamed(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return withClient(&c, func(client *api.Client) error {
				d, err := client.JoinOverlay(cmd.Context(), what, share)
				if err != nil {
					return err
				}
				return printJoined(cmd, &d, c.json)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().Float64Var(&share, "share", 1, "this overlay's part of the machine, over the sum of all shares")
	return cmd
}

// maxTicketFile is more than any ticket has, in bytes.
const maxTicketFile = 64 << 10

// overlayNamed returns what an argument names: what the file behind an @ has, what in has for
// a -, or itself.
func overlayNamed(arg string, in io.Reader) (string, error) {
	path, isFile := strings.CutPrefix(arg, "@")
	switch {
	case isFile:
		f, err := os.Open(path)
		if err != nil {
			return "", failure.Usage("", "reading the ticket: %w", err)
		}
		defer f.Close()
		in = f
	case arg != "-":
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(in, maxTicketFile))
	if err != nil {
		return "", failure.Usage("", "reading the ticket: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return "", failure.Usage("`godwit overlay invite` prints one", "there is no ticket")
	}
	return text, nil
}

func newOverlayLeave() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:     "leave NAME|ID",
		Short:   "Serve an overlay no longer; its tasks here go on elsewhere",
		Example: `  godwit overlay leave lab`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				id, err := client.LeaveOverlay(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case c.json:
					return table.JSON(cmd.OutOrStdout(), api.OverlayReply{ID: id})
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "left %s\n", id)
				return nil
			})
		},
	}
	c.add(cmd)
	return cmd
}

func newOverlayInvite() *cobra.Command {
	var c clientFlags
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "invite NAME|ID",
		Short: "Print a ticket with which others can join an overlay that this node founded",
		Long: `Print a ticket with which others can join an overlay that this node founded. Whoever
holds the ticket can join: send it as you would send a password. It has up to three
addresses of members in it, so that it is all that a machine elsewhere needs: those
that others have dialled from outside, and relays, before those of the local network.`,
		Example: `  godwit overlay invite lab --for 48h`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if life <= 0 {
				return failure.Usage("durations are written like 48h", "--for must be above 0")
			}
			return withClient(&c, func(client *api.Client) error {
				ticket, err := client.Invite(cmd.Context(), args[0], life)
				switch {
				case err != nil:
					return err
				case c.json:
					return table.JSON(cmd.OutOrStdout(), api.InviteReply{Ticket: ticket})
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "good for %s; join with `godwit overlay join @FILE`\n", longLife(life))
				return printLine(cmd.OutOrStdout(), ticket)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().DurationVar(&life, "for", inviteLife, "how long the ticket is good for")
	return cmd
}
