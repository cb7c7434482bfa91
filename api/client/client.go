// Package client is for Go programs that hand jobs to a node: they find the node as the command line does, submit,
// follow, and read results, each checked against what its worker signed.
package client

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"godwit/api"
)

// Where says which node to talk to. A field that is empty has the value of its environment variable, and without that
// what the command line takes: the socket in the usual data directory.
type Where struct {
	DataDir   string // of the node, whose socket is used; GODWIT_DATA_DIR
	Addr      string // TCP address of its API, in place of the socket; GODWIT_API
	TokenFile string // with the token for Addr, by default api.TokenName in DataDir; GODWIT_TOKEN_FILE
}

// A Client hands jobs to one node. It is safe for concurrent use. Its methods return *api.Error for what the node
// answered, and api.ErrNoNode where none is there.
type Client struct {
	API *api.Client // every other request
}

// Open returns a client of a node. Nothing is asked yet; only a token that is needed is read.
func Open(w Where) (*Client, error) {
	dir := cmp.Or(w.DataDir, os.Getenv("GODWIT_DATA_DIR"), DataDir())
	addr := cmp.Or(w.Addr, os.Getenv("GODWIT_API"))
	if addr == "" {
		return &Client{api.Dial(dir)}, nil
	}
	path := cmp.Or(w.TokenFile, os.Getenv("GODWIT_TOKEN_FILE"), filepath.Join(dir, api.TokenName))
	token, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the API's token: %w", err)
	}
	return &Client{api.DialTCP(addr, string(token))}, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.API.Close() }

// DataDir is where a node keeps its data if nobody says otherwise. It follows the XDG base directories.
func DataDir() string {
	if d := os.Getenv("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "godwit")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "godwit-data"
	}
	return filepath.Join(home, ".local", "share", "godwit")
}
