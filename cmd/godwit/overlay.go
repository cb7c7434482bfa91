package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/migrate"
	"godwit/node"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// inviteLife is how long a ticket is good for unless told otherwise: a week, in
// which most people read their mail.
const inviteLife = 7 * 24 * time.Hour

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
		newOverlayCreate(), newOverlayList(), newOverlayShow(), newOverlayChange(), newOverlayJoin(), newOverlayLeave(), newOverlayInvite(),
		newOverlayWatch(),
	} {
		sub.Args = explained(sub.Args)
		cmd.AddCommand(sub)
	}
	return cmd
}

// rulesFlags are the rules of an overlay as flags.
type rulesFlags struct {
	placement, migration   string
	fairness, chunking     string
	coordinators, replicas int
	admission              string
	allow                  []string
	revoke                 bool
}

func (r *rulesFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.placement, "placement", "", "policy that says where tasks go, such as fcfspp:n=3; "+place.Default+" is the usual")
	f.StringVar(&r.migration, "migration", "", "policy that says when running tasks move, such as pspp; "+migrate.Default+" is the usual, with none they stay")
	f.StringVar(&r.fairness, "fairness", "", "policy that says whose turn it is, such as sep; "+share.Default+" is the usual; placement policies that go by classes choose that, too, where none is named")
	f.StringVar(&r.chunking, "chunking", "", "policy that says how many tasks of a sweep a member is given at once, such as gss; "+chunk.Default+" is the usual")
	f.IntVar(&r.coordinators, "coordinators", 0, fmt.Sprintf("members that hold the ledger, 1 to %d; 3 is the usual", node.MaxCoordinators))
	f.IntVar(&r.replicas, "replicas", 0, "least runs of every task that must agree; what the job asks is the usual")
	f.StringVar(&r.admission, "admission", "", "who may join: open (the usual), invited, or listed (see --allow)")
	f.StringArrayVar(&r.allow, "allow", nil, "ID of a peer that may join, for --admission listed (repeatable; together the whole list)")
}

// given says whether any rule was.
func (r *rulesFlags) given(f *pflag.FlagSet) bool {
	return r.revoke || slices.ContainsFunc([]string{"placement", "migration", "fairness", "chunking", "coordinators", "replicas", "admission", "allow"}, f.Changed)
}

// apply changes the rules whose flags were given.
func (r *rulesFlags) apply(f *pflag.FlagSet, rules *node.OverlayRules) error {
	given := f.Changed
	if given("placement") {
		rules.Placement = r.placement
	}
	if given("migration") {
		rules.Migration = r.migration
	}
	if given("fairness") {
		rules.Fairness = r.fairness
	}
	if given("chunking") {
		rules.Chunking = r.chunking
	}
	if given("coordinators") {
		rules.Coordinators = r.coordinators
	}
	if given("replicas") {
		rules.Replicas = r.replicas
	}
	if given("admission") {
		rules.Admission = r.admission
		if r.admission != node.AdmitListed {
			rules.Allowed = nil // the list goes with its rule
		}
	}
	if given("allow") {
		rules.Allowed = nil
		for _, p := range r.allow {
			rules.Allowed = append(rules.Allowed, task.PeerID(p))
		}
	}
	rules.RevokeInvitations = r.revoke
	return checkRules(rules)
}

// checkRules says what is wrong with rules before a node is asked, and what
// would be right.
func checkRules(rules *node.OverlayRules) error {
	if err := rules.Check(); err != nil {
		return failure.Usage(rulesHint(rules), "%w", err)
	}
	return nil
}

func rulesHint(rules *node.OverlayRules) string {
	if len(rules.Allowed) > 0 && rules.Admission != node.AdmitListed {
		return "--allow goes with --admission " + node.AdmitListed
	}
	for _, p := range rules.Allowed {
		if _, err := p.PublicKey(); err != nil {
			return "--allow takes a whole peer ID, as `godwit status` prints it on that machine"
		}
	}
	return "`godwit overlay create --help` tells what rules there are"
}

// policies is the part of a help text that lists what the rules can name.
func policies() string {
	return "\nPlacement policies:\n" + indent(place.Describe()) + "\nMigration policies; a task that moves goes on where it stopped, at a member that the placement policy chooses:\n" + indent(migrate.Describe()) +
		"\nFairness policies, which divide idle slots among jobs:\n" + indent(share.Describe()) + "\nChunking policies, which divide a sweep among members:\n" + indent(chunk.Describe())
}

func newOverlayCreate() *cobra.Command {
	var c clientFlags
	var r rulesFlags
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Found an overlay with this node's key, join it and print its ID",
		Long:  "Found an overlay with this node's key, join it and print its ID.\n" + policies(),
		Example: `  godwit overlay create lab --admission invited --placement fcfspp:n=3
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
	cmd.Flags().BoolVar(&r.revoke, "revoke-invitations", false, "void every invitation made so far: who joined with one is a member no more")
	return cmd
}

func newOverlayJoin() *cobra.Command {
	var c clientFlags
	var share float64
	cmd := &cobra.Command{
		Use:   "join NAME|ID|TICKET",
		Short: "Serve an overlay and print its ID",
		Long: `Serve an overlay and print its ID. A NAME alone is the open pool of that name, which
nobody founded; an ID is an overlay that a peer in reach serves; a TICKET comes
from the founder's "godwit overlay invite". A node that serves several overlays
divides itself among them by their shares, and serves them again when it is
started again.`,
		Example: `  godwit overlay join commons
  godwit overlay join godwit1... --share 3`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(share > 0) {
				return failure.Usage("for example --share 2", "--share must be above 0")
			}
			return withClient(&c, func(client *api.Client) error {
				d, err := client.JoinOverlay(cmd.Context(), args[0], share)
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
holds the ticket can join: send it as you would send a password.`,
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
				fmt.Fprintf(cmd.ErrOrStderr(), "good for %s; join with `godwit overlay join TICKET`\n", longLife(life))
				return printLine(cmd.OutOrStdout(), ticket)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().DurationVar(&life, "for", inviteLife, "how long the ticket is good for")
	return cmd
}

// printJoined prints the ID of an overlay that the node is a member of now.
func printJoined(cmd *cobra.Command, d *node.OverlayDetail, asJSON bool) error {
	if asJSON {
		return table.JSON(cmd.OutOrStdout(), d)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "serving %s\n", d.Name)
	return printLine(cmd.OutOrStdout(), d.ID)
}

func printLine(w io.Writer, v any) error {
	_, err := fmt.Fprintln(w, v)
	return err
}
