package main

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/internal/docs"
	"godwit/migrate"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
)

var update = flag.Bool("update", false, "write the verbs and their flags into docs/cli.md")

// TestManual: docs/cli.md says of each verb what the verb says of itself.
func TestManual(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "$XDG_DATA_HOME") // the defaults name it
	if err := docs.Generate("../../docs/cli.md", "verbs", manual(newRoot()), *update); err != nil {
		t.Error(err)
	}
}

// manual is all verbs but hidden ones in Markdown, group by group.
func manual(root *cobra.Command) string {
	var b strings.Builder
	for _, g := range root.Groups() {
		title := strings.TrimSuffix(g.Title, ":")
		fmt.Fprintf(&b, "## %s\n\n| verb | does |\n|---|---|\n", title)
		verbs := inGroup(root, g.ID)
		for _, c := range verbs {
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.CommandPath(), anchor(c), cell(c.Short))
		}
		b.WriteString("\n")
		for _, c := range verbs {
			describe(&b, c)
		}
	}
	return b.String()
}

// inGroup returns the verbs of a group with their sub-verbs, in the order of the help.
func inGroup(root *cobra.Command, group string) (out []*cobra.Command) {
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		if c.IsAvailableCommand() {
			out = append(out, c)
			for _, sub := range c.Commands() {
				add(sub)
			}
		}
	}
	for _, c := range root.Commands() {
		if c.GroupID == group {
			add(c)
		}
	}
	return out
}

// anchor is what a link to a verb's heading is named.
func anchor(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// describe writes a verb's usage, description, examples and flags.
func describe(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "### %s\n\n```text\n%s\n```\n\n", c.CommandPath(), c.UseLine())
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	for _, list := range []string{place.Describe(), share.Describe(), chunk.Describe(), migrate.Describe(),
		predictor.Describe(), sim.DescribeLaws()} {
		for _, text := range []string{indent(list), list} {
			long = strings.ReplaceAll(long, strings.TrimRight(text, "\n"), "see [policies.md](policies.md).")
		}
	}
	b.WriteString(strings.TrimSpace(long) + "\n\n")
	if c.Example != "" {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", strings.TrimRight(c.Example, "\n"))
	}
	var rows strings.Builder
	asks := false // a node, by the usual flags
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Hidden || f.Name == "help":
		case usual(c, f):
			asks = true
		default:
			rows.WriteString(row(f))
		}
	})
	if rows.Len() > 0 {
		b.WriteString("| flag | default | means |\n|---|---|---|\n" + rows.String() + "\n")
	}
	if asks {
		b.WriteString("It takes the [flags that name a node](#flags-that-name-a-node).\n\n")
	}
}

// usual reports whether a flag is one of those by which a verb finds its node.
func usual(c *cobra.Command, f *pflag.Flag) bool {
	switch f.Name {
	case "api", "data-dir", "token-file", "json":
		return c.Flags().Lookup("token-file") != nil
	}
	return false
}

// row is a flag's line of a table.
func row(f *pflag.Flag) string {
	kind, means := pflag.UnquoteUsage(f)
	name, value := "`--"+f.Name, f.DefValue
	if kind != "" {
		name += " " + strings.ToUpper(kind)
	}
	switch {
	case value == "" || value == "[]" || value == "false" || value == "0" && strings.Contains(means, "default"):
		value = ""
	case f.Name == "workers" && value == strconv.Itoa(runtime.GOMAXPROCS(0)):
		value = "every core"
	default:
		value = "`" + value + "`"
	}
	return fmt.Sprintf("| %s` | %s | %s |\n", name, value, cell(means))
}

// cell is text as it may stand in a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
