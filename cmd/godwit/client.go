package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/api/client"
	"godwit/internal/failure"
	"godwit/lab/table"
)

// clientFlags say which node a verb talks to.
type clientFlags struct {
	dataDir, addr, tokenFile string
	json                     bool
	raw                      bool // the verb itself sees to what its output may hold
}

// add adds the flags to a verb, and sees to it that the verb prints nothing that plays with
// a terminal: much of what it prints comes from other nodes.
func (c *clientFlags) add(cmd *cobra.Command) {
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if !c.json && !c.raw {
			cmd.SetOut(table.Printable(cmd.OutOrStdout()))
		}
	}
	f := cmd.Flags()
	f.StringVar(&c.dataDir, "data-dir", defaultDataDir(), "data directory `DIR` of the node to talk to")
	f.StringVar(&c.addr, "api", "", "TCP `ADDRESS` of the node's API, in place of the data directory's socket")
	f.StringVar(&c.tokenFile, "token-file", "",
		"`FILE` with the API's token, for --api (default DATA-DIR/"+api.TokenName+")")
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

func withClient(c *clientFlags, f func(*api.Client) error) error {
	client, err := c.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	return f(client)
}

// defaultDataDir follows the XDG base directories.
func defaultDataDir() string { return client.DataDir() }
