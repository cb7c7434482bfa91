package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"godwit/api"
	"godwit/lab/testbed"
	"godwit/owner"
)

// nodes is how many there are: enough for a group, and for one that others know of.
const nodes = 3

// A swarm is real nodes, each a process of the godwit that is tried.
type swarm struct {
	godwit string // the program
	all    []*testbed.Node
}

// startSwarm starts nodes below dir that know each other.
func startSwarm(ctx context.Context, godwit, dir string) (_ *swarm, err error) {
	s := &swarm{godwit: godwit}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	rules := owner.Everything() // nobody's desktop
	rules.NoPriorityChange = true
	for i := range nodes {
		args := []string{"--api", "127.0.0.1:0", "--cores", "1"}
		if i > 0 {
			args = append(args, "--peer", s.all[0].Ready.Addrs[0])
		}
		n, err := testbed.Setup{Program: godwit, Dir: filepath.Join(dir, fmt.Sprint("node", i)), Listen: testbed.AnyPort,
			Rules: rules, Args: args}.Start(ctx)
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, n)
	}
	return s, (&testbed.Swarm{Dir: dir, Nodes: s.all}).AwaitMembers(ctx)
}

// stop ends the nodes.
func (s *swarm) stop() error {
	return (&testbed.Swarm{Nodes: s.all}).Stop()
}

// origin is where a node's dashboard is.
func (s *swarm) origin(i int) string { return "http://" + s.all[i].Ready.API }

// client talks to a node's socket.
func (s *swarm) client(i int) *api.Client { return api.Dial(s.all[i].Dir) }

// token is what lets others than browsers in by a node's TCP address.
func (s *swarm) token(i int) (string, error) {
	b, err := os.ReadFile(filepath.Join(s.all[i].Dir, api.TokenName))
	return strings.TrimSpace(string(b)), err
}

// verbTime is how long a verb may take.
const verbTime = time.Minute

// do runs a verb of godwit on a node, and returns what it prints.
func (s *swarm) do(ctx context.Context, i int, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, verbTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.godwit, append(args, "--data-dir", s.all[i].Dir)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("godwit %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// door returns the address that lets a browser in, once.
func (s *swarm) door(ctx context.Context, i int) (string, error) {
	return s.do(ctx, i, "open", "--print")
}
