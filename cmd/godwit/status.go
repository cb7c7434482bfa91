package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/lab/screen"
	"godwit/lab/table"
	"godwit/node"
	"godwit/task"
)

func newStatus() *cobra.Command {
	c := clientFlags{raw: true}
	var watch bool
	every := watchEvery
	cmd := &cobra.Command{
		Use:   "status",
		Short: "State of the node, and why it is so",
		Long: `State of the node, and why it is so.
With --watch it is shown anew in the same place, cut to the terminal's width, until Ctrl-C;
where there is no terminal a line comes when something changes, and each minute, or with
--json an object each time.`,
		Example: `  godwit status
  godwit status --watch --every 5s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(&c, func(client *api.Client) error {
				out := cmd.OutOrStdout()
				if watch {
					w := statusWatch{client: client, out: out, json: c.json, every: every, draw: screen.IsTerminal(out)}
					return w.run(cmd.Context())
				}
				s, err := client.Status(cmd.Context())
				if err != nil {
					return err
				}
				if c.json {
					return table.JSON(out, s)
				}
				_, err = io.WriteString(out, statusText(s, screen.Painter(screen.Coloured(out))))
				return err
			})
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it anew until Ctrl-C")
	cmd.Flags().DurationVar(&every, "every", every, "how often --watch looks")
	return cmd
}

// statusText is a node's status, fit to be shown.
func statusText(s node.Status, p screen.Painter) string {
	var b strings.Builder
	printStatus(&b, s)
	return paintStatus(p, printable(b.String()))
}

func printStatus(out io.Writer, s node.Status) {
	fmt.Fprintf(out, "node     %s (%s)\n", s.PeerID, s.Version)
	fmt.Fprintln(out, stateLine(s))
	for _, note := range s.Notices {
		fmt.Fprintf(out, "notice   %s\n", note)
	}
	fmt.Fprintf(out, "tasks    %d running, %d slots\n", s.Tasks, s.Slots)
	if line := givenLine(&s.Given); line != "" {
		fmt.Fprintf(out, "given    %s\n", line)
	}
	printMoves(out, s.Running)
	for _, o := range s.Overlays {
		fmt.Fprintf(out, "overlay  %s\n", overlayLine(&o))
		printCells(out, &o)
	}
	fmt.Fprintf(out, "peers    %d connected\n", s.Peers)
	printReach(out, &s.Reach)
	fmt.Fprintf(out, "memory   %s resident\n", task.FormatSize(int64(s.RSSBytes)))
	fmt.Fprintf(out, "traffic  %s in, %s out\n", task.FormatSize(s.RxBytes), task.FormatSize(s.TxBytes))
	for _, a := range s.Addrs {
		fmt.Fprintf(out, "address  %s\n", a)
	}
}

// printReach says through whom a node is reached, and what it carries for others.
func printReach(out io.Writer, r *node.ReachStatus) {
	short := func(peers []task.PeerID) string {
		var names []string
		for _, p := range peers {
			names = append(names, table.ShortPeer(p))
		}
		return strings.Join(names, ", ")
	}
	switch {
	case len(r.Relays) > 0:
		fmt.Fprintf(out, "reach    nobody can dial this node; through %s\n", short(r.Relays))
	case r.Hidden:
		fmt.Fprintln(out, "reach    nobody can dial this node, and nobody relays for it: `godwit doctor` says more")
	}
	if ports := node.OpenPorts(&r.Router); len(ports) > 0 {
		fmt.Fprintf(out, "router   opens %s to this node, asked by %s\n", strings.Join(ports, ", "), r.Router.By)
	}
	for _, p := range r.Relayed {
		fmt.Fprintf(out, "relayed  what goes to and from %s goes through %s\n",
			table.ShortPeer(p.Peer), table.ShortPeer(p.Via))
	}
	if r.Circuits > 0 || r.CarriedBytes > 0 {
		fmt.Fprintf(out, "relays   for others: %d connections, %s so far\n", r.Circuits, task.FormatSize(r.CarriedBytes))
	}
}

func newPeers() *cobra.Command {
	var c clientFlags
	var overlay string
	cmd := &cobra.Command{
		Use:   "peers",
		Short: "List the members that this node knows, and how likely each is to stay for the next hour",
		Long: `List the members that this node knows: their state, free slots, memory and speed, how
likely each is to stay for the next hour (1H), how far away and how long ago heard of,
what it does (ROLES), and whether this node believes that it is there (BELIEF).`,
		Example: `  godwit peers
  godwit peers --overlay lab
  godwit peers add /ip4/192.0.2.1/tcp/24001/p2p/12D3KooW...`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := c.dial()
			if err != nil {
				return err
			}
			defer client.Close()
			members, err := client.Peers(cmd.Context(), overlay)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if c.json {
				for _, m := range members {
					if err := table.JSON(out, m); err != nil {
						return err
					}
				}
				return nil
			}
			rows := make([][]string, 0, len(members))
			for _, m := range members {
				rows = append(rows, peerRow(&m))
			}
			table.Print(out, "PEER STATE FREE MEMORY SPEED 1H LATENCY SEEN ROLES OVERLAY BELIEF", rows)
			return nil
		},
	}
	c.add(cmd)
	cmd.Flags().StringVar(&overlay, "overlay", "",
		"`OVERLAY` whose members to list: name, ID or end of it (default all that the node serves)")
	addPeerVerbs(cmd)
	return cmd
}

// peerRow is a member's line of the list.
func peerRow(m *node.Member) []string {
	latency := "-"
	switch {
	case m.Via != "":
		latency = "via " + table.ShortPeer(m.Via)
	case m.LatencyMS > 0:
		latency = fmt.Sprintf("%.1fms", m.LatencyMS)
	case !m.Connected:
		latency = "not connected"
	}
	where := m.Overlay
	if m.Site != "" {
		where += " at " + m.Site
	}
	return []string{
		table.ShortPeer(m.Peer), m.State.String(), fmt.Sprintf("%d/%d", m.Free, m.Slots), task.FormatSize(m.Memory),
		speedText(m.Speed),
		fmt.Sprintf("%.0f%%", 100*m.Stay), latency, table.Ago(m.Seen), strings.Join(m.Roles, ","), where, beliefText(m),
	}
}

func speedText(speed float64) string {
	if speed == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", speed)
}
