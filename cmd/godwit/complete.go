package main

import (
	"context"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/owner"
)

// completeFor is how long a node may take to say what a shell completes: a person waits at the key.
const completeFor = time.Second

// A lister asks a node for what could stand in place of a word.
type lister func(context.Context, *api.Client) ([]string, error)

// plainWord is what shells take for one word without quotes. Others name jobs and overlays: nothing else of theirs
// gets onto a command line.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// addCompletions has shells complete names of jobs, overlays and rules, by verb.
func addCompletions(root *cobra.Command) {
	root.SetCompletionCommandGroupID("volunteer")
	for verb, list := range map[string]lister{
		"job": jobIDs, "cancel": jobIDs, "forget": jobIDs, "results": jobIDs, "logs": jobIDs, "why": jobIDs, "retry": jobIDs,
		"add":    jobIDs,
		"verify": jobIDs,
	} {
		completed(root, list, verb)
	}
	for _, verb := range []string{"change", "leave", "invite", "show", "watch"} {
		completed(root, overlayNames, "overlay", verb)
	}
	for _, verb := range []string{"get", "set"} {
		find(root, "config", verb).ValidArgsFunction = func(_ *cobra.Command, args []string,
			_ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return owner.Keys(), cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// find is the verb of a path; each that is asked for is there, which a test sees.
func find(root *cobra.Command, path ...string) *cobra.Command {
	cmd, _, err := root.Find(path)
	if err != nil {
		panic(err)
	}
	return cmd
}

// completed has a verb's first word completed from what the node lists. Where no node answers there is nothing.
func completed(root *cobra.Command, list lister, path ...string) {
	find(root, path...).ValidArgsFunction = func(cmd *cobra.Command, args []string,
		_ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completeFor)
		defer cancel()
		return plainWords(namesOf(ctx, cmd, list)), cobra.ShellCompDirectiveNoFileComp
	}
}

// namesOf asks the node that a verb's flags name.
func namesOf(ctx context.Context, cmd *cobra.Command, list lister) []string {
	if err := fromEnv(cmd.Flags()); err != nil {
		return nil
	}
	value := func(flag string) string { s, _ := cmd.Flags().GetString(flag); return s }
	c := clientFlags{dataDir: value("data-dir"), addr: value("api"), tokenFile: value("token-file")}
	client, err := c.dial()
	if err != nil {
		return nil
	}
	defer client.Close()
	names, err := list(ctx, client)
	if err != nil {
		return nil
	}
	return names
}

// plainWords are those that are words for every shell.
func plainWords(names []string) (out []string) {
	for _, n := range names {
		if plainWord.MatchString(n) {
			out = append(out, n)
		}
	}
	return out
}

func jobIDs(ctx context.Context, client *api.Client) (out []string, err error) {
	jobs, err := client.Jobs(ctx)
	for _, j := range jobs {
		out = append(out, string(j.ID))
	}
	return out, err
}

func overlayNames(ctx context.Context, client *api.Client) (out []string, err error) {
	overlays, err := client.Overlays(ctx)
	for _, o := range overlays {
		out = append(out, o.Name)
	}
	return out, err
}
