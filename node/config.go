package node

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"github.com/shirou/gopsutil/v4/mem"

	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
	"godwit/task"
)

// Config says how a node runs. Default fills what is left zero.
type Config struct {
	DataDir string // identity, store and caches live here; created if absent

	Listen    []string // multiaddrs; empty: every interface, ephemeral port
	Bootstrap []string // multiaddrs with /p2p/ID, kept connected
	// BootstrapLists are where lists of peers come from of whom newcomers may ask the way, as
	// bootstrap.Source.Load reads them, and BootstrapKeys whose signature they need.
	BootstrapLists []string
	BootstrapKeys  []task.PeerID
	// BootstrapNode runs no tasks, and has more connections: it is there for newcomers to ask.
	BootstrapNode bool

	MDNS    bool // find peers on the local network
	NoRelay bool // carry nothing for members that cannot reach each other
	// NoPortMapping asks no router to lead the node's ports to it. None is asked in a private swarm either.
	NoPortMapping bool
	SwarmKey      string // file of a private swarm's key; "" for the open swarm

	// Overlays to serve beside those joined before, each by name, ID or ticket.
	// Empty: those joined before, and DefaultOverlay for a node that has joined
	// none.
	Overlays []string

	Cores  int   // most tasks to run at once; 0: every core
	Memory int64 // most bytes lent to all tasks together; 0: what the rules say, without any half of the machine's

	// RulesFile has the owner's rules; it need not exist. "" is a machine that
	// lends everything always, of which no sensor is read.
	RulesFile string

	// Site names the group of members that this one belongs to, for policies of fair
	// shares; "" for none. At most overlay.MaxSite bytes that print.
	Site string

	// Cells is from how many members on an overlay is divided; zero: overlay.DefaultCellRule. All members go
	// by the same: it is for tests.
	Cells overlay.CellRule

	Experiment Experiment // the zero value for a node that works

	Sandbox []string // command that starts a sandbox child; required but for RunSleep

	met bool // there are peers that a start before has met

	Version string // of the program, for adverts and status
	Log     *slog.Logger
}

// checkSite says what is wrong with the site's name.
func (c *Config) checkSite() error {
	if len(c.Site) > overlay.MaxSite || strings.ContainsFunc(c.Site, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("the site's name %q has %d bytes, at most %d, or characters that do not print", c.Site,
			len(c.Site), overlay.MaxSite)
	}
	return nil
}

// DefaultOverlay is the pool that every node serves unless told otherwise.
const DefaultOverlay = "commons"

// memoryShare is how much of the machine's memory is lent without rules: half
// leaves a desktop its programs and its page cache.
const memoryShare = 2

// fallbackMemory stands in where the system does not tell how much it has.
const fallbackMemory = 2 << 30

// withDefaults returns c with every zero field filled, or says what is wrong.
func (c Config) withDefaults() (Config, error) {
	if c.DataDir == "" {
		return c, fmt.Errorf("no data directory given")
	}
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		return c, fmt.Errorf("resolving data directory: %w", err)
	}
	c.DataDir = dir
	if c.RulesFile != "" { // others are told where it is
		if c.RulesFile, err = filepath.Abs(c.RulesFile); err != nil {
			return c, fmt.Errorf("finding the owner's rules: %w", err)
		}
	}
	if c.Cores == 0 {
		c.Cores = runtime.NumCPU()
	}
	if c.Cores < 0 {
		return c, fmt.Errorf("cores must not be negative: %d", c.Cores)
	}
	if c.Memory == 0 && c.RulesFile == "" {
		c.Memory = totalMemory() / memoryShare
	}
	if err := errors.Join(c.Experiment.check(), c.checkSite(), c.checkLists()); err != nil {
		return c, err
	}
	if c.Experiment.Runner != RunSleep && len(c.Sandbox) == 0 {
		return c, fmt.Errorf("no sandbox command given")
	}
	if !c.Cells.On() {
		c.Cells = overlay.DefaultCellRule()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// swarmKey reads the private swarm's key, if there is one.
func (c *Config) swarmKey() ([]byte, error) {
	if c.SwarmKey == "" {
		return nil, nil
	}
	key, err := p2p.LoadSwarmKey(c.SwarmKey)
	if err != nil {
		return nil, fmt.Errorf("loading the swarm's key: %w", err)
	}
	return key, nil
}

// Machine returns what this machine has: its cores, and its memory in bytes.
func Machine() owner.Machine {
	return owner.Machine{Cores: runtime.NumCPU(), Memory: totalMemory()}
}

// totalMemory is the machine's, in bytes.
func totalMemory() int64 {
	v, err := mem.VirtualMemory()
	if err != nil {
		return fallbackMemory
	}
	return int64(v.Total)
}

// cacheDir keeps compiled modules, scratchDir is where sandboxes run, stageDir has the
// files of jobs that are ready.
func (c *Config) cacheDir() string   { return filepath.Join(c.DataDir, "cache") }
func (c *Config) scratchDir() string { return filepath.Join(c.DataDir, "scratch") }
func (c *Config) stageDir() string   { return filepath.Join(c.DataDir, "stage") }
