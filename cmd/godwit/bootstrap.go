package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/p2p/bootstrap"
	"godwit/task"
)

// listLife is how long a list holds unless told otherwise: it is made anew each month, and two may
// be forgotten.
const listLife = 90 * 24 * time.Hour

// addBootstrap adds the flags of `godwit up` that lead a newcomer to others.
func (u *upFlags) addBootstrap(f *pflag.FlagSet) {
	f.StringArrayVar(&u.cfg.BootstrapLists, "bootstrap", nil,
		"`LIST` of peers to ask the way: https://..., dnsaddr:NAME or a file (repeatable; needs --bootstrap-key)")
	f.StringArrayVar(&u.bootstrapKeys, "bootstrap-key", nil,
		"`KEY` whose signature makes such a list good, as godwit bootstrap sign prints it (repeatable; one is enough)")
	f.BoolVar(&u.cfg.BootstrapNode, "bootstrap-node", false,
		"run no tasks, and keep more connections: for newcomers to ask the way")
}

func newBootstrap() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bootstrap",
		Short: "Lists of peers of whom newcomers may ask the way: sign one, verify one",
		Long: `Lists of peers of whom newcomers may ask the way.
A list is signed and dated, so that any mirror serves: a web page, a file, the name system.
Nodes use it with "godwit up --bootstrap LIST --bootstrap-key KEY".`,
		Example: `  godwit bootstrap sign --key list.key --peer /ip4/192.0.2.1/tcp/4001/p2p/12D3KooW... > list
  godwit bootstrap verify https://example.org/list --key 12D3KooW...`,
		RunE: func(*cobra.Command, []string) error {
			return failure.Usage("say sign or verify", "what to do with a list?")
		},
	}
	for _, c := range []*cobra.Command{newBootstrapSign(), newBootstrapVerify()} {
		c.Args = explained(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// signFlags say what `bootstrap sign` is to sign.
type signFlags struct {
	key, list string
	peers     []string
	life      time.Duration
	records   bool
}

func newBootstrapSign() *cobra.Command {
	var s signFlags
	cmd := &cobra.Command{
		Use:   "sign --key FILE [--peer ADDRESS]... [--list LIST]",
		Short: "Print a list of peers, signed",
		Long: `Print a list of peers, signed.
Its peers are those of --peer, with addresses that "godwit status" prints there; or those of
another list, of which the dates stay, too, and to whose signatures this one is added. Two
keys on a list let one of them be lost. The key's file is made if it is not there: keep it
apart from machines on the net.`,
		Example: `  godwit bootstrap sign --key list.key --peer /ip4/192.0.2.1/tcp/4001/p2p/12D3KooW... > list
  godwit bootstrap sign --key second.key --list list > list-with-both
  godwit bootstrap sign --key list.key --list list --records    for _dnsaddr.NAME`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&s.key, "key", "", "`FILE` with the key to sign with, made if it is not there")
	f.StringArrayVar(&s.peers, "peer", nil, "`MULTIADDR` of a peer, with /p2p/ID (repeatable)")
	f.StringVar(&s.list, "list", "", "`LIST` to sign, in place of peers: https://..., dnsaddr:NAME or a file")
	f.DurationVar(&s.life, "for", listLife, "how long a new list holds")
	f.BoolVar(&s.records, "records", false, "print the text records of a name, one a line, for dnsaddr:NAME")
	return cmd
}

func (s *signFlags) run(cmd *cobra.Command) error {
	switch {
	case s.key == "":
		return failure.Usage("for example --key list.key", "no file given for the key")
	case len(s.peers) > 0 == (s.list != ""):
		return failure.Usage("for example --peer /ip4/192.0.2.1/tcp/4001/p2p/12D3KooW...",
			"a list is signed of peers, or of another list")
	}
	l, err := s.make(cmd.Context())
	if err != nil {
		return err
	}
	key, err := p2p.LoadOrCreateKey(s.key)
	if err != nil {
		return err
	}
	if err := l.Sign(key); err != nil {
		return err
	}
	id, err := p2p.PeerIDOf(key)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "signed by %s until %s; nodes use it with --bootstrap-key %s\n", id,
		l.Expires.Format(time.DateOnly), id)
	text := string(l.Text())
	if s.records {
		text = strings.Join(l.Records(), "\n") + "\n"
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}

// make returns what is to be signed.
func (s *signFlags) make(ctx context.Context) (bootstrap.List, error) {
	if s.list != "" {
		return bootstrap.Source{}.Load(ctx, s.list)
	}
	var peers []overlay.Place
	for _, text := range s.peers {
		p, err := overlay.ParsePlace(text)
		if err != nil {
			return bootstrap.List{}, failure.Usage("`godwit status` there prints addresses", "%w", err)
		}
		peers = append(peers, p)
	}
	now := time.Now()
	l, err := bootstrap.New(peers, now, now.Add(s.life))
	if err != nil {
		return l, failure.Usage("", "%w", err)
	}
	return l, nil
}

// A listReply is a list, for scripts.
type listReply struct {
	Issued  time.Time     `json:"issued"`
	Expires time.Time     `json:"expires"`
	Peers   []string      `json:"peers"`
	Keys    []task.PeerID `json:"keys"`
}

func newBootstrapVerify() *cobra.Command {
	var keys []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify LIST --key KEY",
		Short: "Check a list as a node would, and print what it says",
		Example: `  godwit bootstrap verify list --key 12D3KooW...
  godwit bootstrap verify dnsaddr:boot.example.org --key 12D3KooW...`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			trusted, err := keysOf(keys)
			switch {
			case err != nil:
				return err
			case len(trusted) == 0:
				return failure.Usage("`godwit bootstrap sign` prints it", "no --key given by which the list is to be signed")
			}
			l, err := bootstrap.Source{}.Load(cmd.Context(), args[0])
			if err == nil {
				err = l.Check(trusted, time.Now())
			}
			if err != nil {
				return &failure.Error{Code: failure.ExitFailed, Err: err,
					Hint: "nodes that are given this list do without it: ask its maker for a new one"}
			}
			return printList(cmd, &l, asJSON)
		},
	}
	cmd.Flags().StringArrayVar(&keys, "key", nil, "`KEY` of which one has to have signed it (repeatable)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printList(cmd *cobra.Command, l *bootstrap.List, asJSON bool) error {
	r := listReply{Issued: l.Issued, Expires: l.Expires}
	for _, p := range l.Peers {
		r.Peers = append(r.Peers, p.String())
	}
	for _, s := range l.Signatures {
		r.Keys = append(r.Keys, s.Key)
	}
	out := cmd.OutOrStdout()
	if asJSON {
		return table.JSON(out, r)
	}
	fmt.Fprintf(out, "good     from %s to %s\n", l.Issued.Format(time.DateOnly), l.Expires.Format(time.DateOnly))
	for _, k := range r.Keys {
		fmt.Fprintf(out, "signed   %s\n", k)
	}
	for _, p := range r.Peers {
		fmt.Fprintf(out, "peer     %s\n", p)
	}
	return nil
}

// keysOf reads keys, which are written as peer IDs.
func keysOf(texts []string) (keys []task.PeerID, err error) {
	for _, text := range texts {
		key := task.PeerID(text)
		if _, err := key.PublicKey(); err != nil {
			if _, there := os.Stat(text); there == nil {
				return nil, failure.Usage("give the ID that `godwit bootstrap sign` prints, not its file", "%w", err)
			}
			return nil, failure.Usage("`godwit bootstrap sign` prints it", "reading the key of lists: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}
