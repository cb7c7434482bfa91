package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/p2p/bootstrap"
	"godwit/task"
)

// Lists of peers of whom newcomers may ask the way, and the keys that sign them, for nodes of which
// the owner says nothing of that. There are none while no swarm is run for the public.
var (
	usualLists []string
	usualKeys  []task.PeerID
)

const (
	// listRetry and listRetryMost are how long, at first and later, until a list is asked for again
	// that could not be used, and listAgain until one that could: peers come and go.
	listRetry, listRetryMost = 30 * time.Second, time.Hour
	listAgain                = 24 * time.Hour
)

// bootLists are the lists that this node uses. What is the matter with them may be asked from any
// goroutine.
type bootLists struct {
	sources []string
	trusted []task.PeerID
	from    bootstrap.Source

	mu   sync.Mutex
	told map[string]string    // by source: why it is not used
	seen map[string]time.Time // by source: when the newest list from there was issued
}

// newBootLists returns the lists of a configuration that was checked.
func newBootLists(cfg *Config) *bootLists {
	l := &bootLists{sources: slices.Clone(cfg.BootstrapLists), trusted: slices.Clone(cfg.BootstrapKeys),
		told: map[string]string{}, seen: map[string]time.Time{}}
	if len(l.sources) == 0 {
		l.sources = slices.Clone(usualLists)
	}
	l.trusted = append(l.trusted, usualKeys...)
	return l
}

// checkLists says what is wrong with what a configuration says of lists.
func (c *Config) checkLists() error {
	for _, from := range c.BootstrapLists {
		if err := bootstrap.CheckName(from); err != nil {
			return err
		}
	}
	for _, key := range c.BootstrapKeys {
		if _, err := key.PublicKey(); err != nil {
			return fmt.Errorf("the key of bootstrap lists: %w", err)
		}
	}
	if len(c.BootstrapLists) > 0 && len(c.BootstrapKeys)+len(usualKeys) == 0 {
		return errors.New("a bootstrap list is used only if it is signed by a key that is named: --bootstrap-key")
	}
	return nil
}

// useLists asks for the lists until ctx ends, each by itself: one that does not come holds up no
// other.
func (n *Node) useLists(ctx context.Context) {
	for _, from := range n.lists.sources {
		n.spawn(func() {
			for wait := listRetry; ctx.Err() == nil; {
				next := listAgain
				if err := n.useList(ctx, from); err != nil {
					next, wait = wait, min(2*wait, listRetryMost)
				} else {
					wait = listRetry
				}
				_ = pause.For(ctx, next)
			}
		})
	}
}

// useList takes up the peers of a list, if it is good.
func (n *Node) useList(ctx context.Context, from string) error {
	l, err := n.lists.from.Load(ctx, from)
	if err == nil {
		err = l.Check(n.lists.trusted, time.Now())
	}
	if err == nil {
		err = l.Since(n.lists.newest()[from])
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if n.lists.note(from, err.Error()) {
			n.log.Warn("a bootstrap list is not used", "list", from, "why", err)
		}
		return err
	}
	n.lists.note(from, "")
	n.lists.saw(from, l.Issued)
	n.keeper.note()
	addrs := make([]string, 0, len(l.Peers))
	for _, p := range l.Peers {
		addrs = append(addrs, p.String())
	}
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] }) // newcomers are spread
	n.net.Suggest(addrs)
	n.log.Info("a bootstrap list is used", "list", from, "peers", len(addrs), "until", l.Expires)
	return nil
}

// note takes in why a list is not used, "" where it is. It reports whether that is new.
func (l *bootLists) note(from, why string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	news := l.told[from] != why
	l.told[from] = why
	return news
}

// recall takes in when the newest lists were issued that starts before have seen.
func (l *bootLists) recall(seen map[string]time.Time) {
	for _, from := range l.sources {
		if at, ok := seen[from]; ok {
			l.saw(from, at)
		}
	}
}

// saw takes in that a list is used, which was issued then.
func (l *bootLists) saw(from string, issued time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if issued.After(l.seen[from]) {
		l.seen[from] = issued
	}
}

// newest says of each source when the newest list that came from there was issued.
func (l *bootLists) newest() map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.seen)
}

// notices tell the owner of lists that are not used.
func (l *bootLists) notices() (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, from := range l.sources {
		if why := l.told[from]; why != "" {
			out = append(out, fmt.Sprintf("the bootstrap list %s is not used: %s", from, why))
		}
	}
	return out
}

// bootstrapConns is how many connections a bootstrap node keeps: some 50 MB, and a newcomer every
// half minute for hours.
const bootstrapConns = 512

// maxConns is how many connections the node keeps; 0 is the usual number.
func (c *Config) maxConns() int {
	if c.BootstrapNode {
		return bootstrapConns
	}
	return 0
}
