package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/node"
)

func newOverlay() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "overlay",
		Short: "Pools of one's own: found, join, leave, invite, change",
		Long: `An overlay is a pool of peers with rules of its own: who may join, where tasks go
and when they move. Whoever creates one is its founder and alone can change its
rules. Every node serves "commons" unless told otherwise.`,
		Example: `  godwit overlay create lab --admission invited
  godwit overlay invite lab              on the founder's machine: prints a ticket
  godwit overlay join TICKET             on another
  godwit run render.yaml --overlay lab   runs on the pool's members only`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Args: explained(nil),
	}
	for _, sub := range []*cobra.Command{
		newOverlayCreate(), newOverlayList(), newOverlayShow(), newOverlayChange(), newOverlayJoin(), newOverlayLeave(),
		newOverlayInvite(),
		newOverlayWatch(),
	} {
		sub.Args = explained(sub.Args)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newOverlayCreate() *cobra.Command {
	var c clientFlags
	var r rulesFlags
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Found an overlay with this node's key, join it and print its ID",
		Long:  "Found an overlay with this node's key, join it and print its ID.\n" + policies(),
		Example: `  godwit overlay create lab --admission invited --placement fcfspp
  godwit overlay create team --admission listed --allow 12D3KooW... --allow 12D3KooW...`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rules := node.OverlayRules{Name: args[0], Admission: node.AdmitOpen}
			if err := r.apply(cmd.Flags(), &rules); err != nil {
				return err
			}
			return withClient(&c, func(client *api.Client) error {
				d, err := client.CreateOverlay(cmd.Context(), rules)
				if err != nil {
					return err
				}
				return printJoined(cmd, &d, c.json)
			})
		},
	}
	c.add(cmd)
	r.add(cmd.Flags())
	return cmd
}

func newOverlayChange() *cobra.Command {
	var c clientFlags
	var r rulesFlags
	cmd := &cobra.Command{
		Use:   "change NAME|ID",
		Short: "Sign a new version of the rules of an overlay that this node founded",
		Long: `Sign a new version of the rules of an overlay that this node founded. What no flag
mentions stays; every member follows the new version as soon as it hears of it.
` + policies(),
		Example: `  godwit overlay change lab --placement flp --migration cbr
  godwit overlay change lab --revoke-invitations    who was invited is out`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !r.given(cmd.Flags()) {
				return failure.Usage("for example --placement fcfspp", "no flag says what to change")
			}
			return withClient(&c, func(client *api.Client) error {
				d, err := client.Overlay(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if err := r.apply(cmd.Flags(), &d.Rules); err != nil {
					return err
				}
				d, err = client.ChangeOverlay(cmd.Context(), string(d.ID), d.Rules)
				switch {
				case err != nil:
					return err
				case c.json:
					return table.JSON(cmd.OutOrStdout(), d)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%s is at version %d of its rules\n", d.Name, d.Version)
				return nil
			})
		},
	}
	c.add(cmd)
	r.add(cmd.Flags())
	cmd.Flags().BoolVar(&r.revoke, "revoke-invitations", false,
		"void every invitation made so far: who joined with one is a member no more")
	return cmd
}
