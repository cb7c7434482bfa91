package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"godwit/lab/table"
)

// version is the program's; packages set it with -ldflags "-X main.version=...".
var version = ""

// unnamed is the version of a build that nothing is known of.
const unnamed = "development"

// revisionLetters of a commit's name tell it from others, as git shortens names.
const revisionLetters = 12

// A build says what program this is.
type build struct {
	Version  string `json:"version"`            // one word, as adverts, the API and metrics have it
	Revision string `json:"revision,omitempty"` // the commit, whole; "" where the build does not say
	Changed  bool   `json:"changed"`            // files were changed since the commit
	Built    string `json:"built,omitempty"`    // the commit's time (RFC 3339)
	Go       string `json:"go"`
	System   string `json:"system"` // as GOOS/GOARCH
}

// programBuild is that of this program.
func programBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(version, info)
}

func programVersion() string { return programBuild().Version }

// buildOf finds out the version: the one that a package gave, else the module's, else the commit's.
func buildOf(given string, info *debug.BuildInfo) build {
	b := build{Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Built = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	module := info.Main.Version
	if module == "(devel)" {
		module = ""
	}
	var commit string
	if b.Revision != "" {
		commit = b.Revision[:min(len(b.Revision), revisionLetters)]
		if b.Changed {
			commit += "+dirty" // Go's word in a module's version
		}
	}
	b.Version = cmp.Or(given, module, commit, unnamed)
	return b
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "What this program is: its version, the commit that it was built from, and the system it was built for",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, out := programBuild(), cmd.OutOrStdout()
			if asJSON {
				return table.JSON(out, b)
			}
			fmt.Fprintf(out, "godwit %s (%s, %s)\n", b.Version, b.System, b.Go)
			if b.Revision != "" {
				changed := ""
				if b.Changed {
					changed = ", with changes"
				}
				fmt.Fprintf(out, "built from commit %s of %s%s\n", b.Revision, b.Built, changed)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
