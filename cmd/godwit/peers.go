package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
)

// addPeerVerbs adds what is done with peers whose addresses the owner gives.
func addPeerVerbs(peers *cobra.Command) {
	for _, sub := range []*cobra.Command{newPeersAdd(), newPeersAdded(), newPeersRemove()} {
		sub.Args = explained(sub.Args)
		peers.AddCommand(sub)
	}
}

func newPeersAdd() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:   "add ADDRESS",
		Short: "Stay connected to a peer, also when the node is started again",
		Long: `Stay connected to a peer, also when the node is started again. ADDRESS is one of those
that "godwit status" prints on the other machine, with /p2p/ID at its end. It is what
--peer of "godwit up" does, for a node that runs.`,
		Example: `  godwit peers add /ip4/192.0.2.1/tcp/24001/p2p/12D3KooW...`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				p, err := client.AddPeer(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case c.json:
					return table.JSON(cmd.OutOrStdout(), api.PeerReply{Peer: p})
				}
				fmt.Fprintf(cmd.ErrOrStderr(),
					"this node stays connected to %s; `godwit peers added` tells whether it is reached\n", p)
				return nil
			})
		},
	}
	c.add(cmd)
	return cmd
}

func newPeersRemove() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:     "remove PEER",
		Short:   "Treat a peer that was added, or named by --peer, as any other",
		Example: `  godwit peers remove 12D3KooW...`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.Contains(args[0], "/") {
				return failure.Usage("give the ID at the address's end, or enough of its end",
					"%s is an address, not a peer", args[0])
			}
			return withClient(&c, func(client *api.Client) error {
				p, err := client.RemovePeer(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case c.json:
					return table.JSON(cmd.OutOrStdout(), api.PeerReply{Peer: p})
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "removed %s\n", p)
				return nil
			})
		},
	}
	c.add(cmd)
	return cmd
}

func newPeersAdded() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:     "added",
		Short:   "List the peers whose addresses this node was given, and whether they are reached",
		Example: `  godwit peers added`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(&c, func(client *api.Client) error {
				all, err := client.AddedPeers(cmd.Context())
				if err != nil {
					return err
				}
				var rows [][]string
				for _, p := range all {
					if c.json {
						if err := table.JSON(cmd.OutOrStdout(), p); err != nil {
							return err
						}
						continue
					}
					state := "not tried yet"
					switch {
					case p.Connected:
						state = "connected"
					case p.Why != "":
						state = "not reached for " + table.Ago(p.Since) + ": " + p.Why
					}
					rows = append(rows, []string{string(p.Peer), state})
				}
				if !c.json {
					table.Print(cmd.OutOrStdout(), "PEER STATE", rows)
				}
				return nil
			})
		},
	}
	c.add(cmd)
	return cmd
}
