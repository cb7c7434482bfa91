package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/api"
	"godwit/internal/failure"
)

// version is the program's; releases set it with -ldflags "-X main.version=...".
var version = ""

func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

// newRoot builds the command tree; nothing in it is shared between calls.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "godwit",
		Short:         "Peer-to-peer volunteer computing: lend idle time, or hand a job to any peer",
		Version:       programVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Example: `  godwit up                          lend this machine's idle time
  godwit run render.yaml --out out   hand in a job and collect its results
  godwit why bafy...                 why does it wait?`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnv(cmd.Flags()) },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: "volunteer", Title: "Volunteer:"},
		&cobra.Group{ID: "owner", Title: "Project owner:"},
		&cobra.Group{ID: "researcher", Title: "Researcher:"},
	)
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			c.Args = explained(c.Args)
			root.AddCommand(c)
		}
	}
	add("volunteer", newUp(), newStatus(), newPause(), newResume(), newDrain(), newConfig(), newDoctor(), newPeers(),
		newHistory(), newForecast())
	add("owner", newRun(), newJobs(), newJob(), newResults(), newCancel(), newForget(), newWhy(), newOverlay(),
		newBuild(), newInspect(), newExec())
	add("researcher", newSim(), newSwarm(), newTrace(), newScore(), newReproduce(), newBurn())
	return root
}

// flagError makes a flag that is not known, or not right, a usage error with a hint.
func flagError(cmd *cobra.Command, err error) error {
	return failure.Usage(fmt.Sprintf("`%s --help` lists the flags", cmd.CommandPath()), "%w", err)
}

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

// fromEnv sets every flag that was not given from GODWIT_FLAG_NAME.
func fromEnv(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "GODWIT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v, ok := os.LookupEnv(name)
		if !ok || f.Changed || err != nil {
			return
		}
		if e := flags.Set(f.Name, v); e != nil {
			err = failure.Usage("", "environment variable %s: %w", name, e)
		}
	})
	return err
}

// defaultDataDir follows the XDG base directories.
func defaultDataDir() string {
	if d := os.Getenv("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "godwit")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "godwit-data"
	}
	return filepath.Join(home, ".local", "share", "godwit")
}

// clientFlags say which node a verb talks to.
type clientFlags struct {
	dataDir, addr, tokenFile string
	json                     bool
}

func (c *clientFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.dataDir, "data-dir", defaultDataDir(), "data directory of the node to talk to")
	f.StringVar(&c.addr, "api", "", "TCP address of the node's API, instead of the data directory's socket")
	f.StringVar(&c.tokenFile, "token-file", "",
		"file with the API's token, for --api (default DATA-DIR/"+api.TokenName+")")
	f.BoolVar(&c.json, "json", false, "print JSON")
}

// dial returns a client of the node that the flags name.
func (c *clientFlags) dial() (*api.Client, error) {
	if c.addr == "" {
		return api.Dial(c.dataDir), nil
	}
	path := c.tokenFile
	if path == "" {
		path = filepath.Join(c.dataDir, api.TokenName)
	}
	token, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.Usage("name the file with --token-file", "reading the API's token: %w", err)
	}
	return api.DialTCP(c.addr, string(token)), nil
}
