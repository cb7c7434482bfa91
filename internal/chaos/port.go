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

	"godwit/internal/chaos/caller"
	"godwit/task"
)

const (
	scenarioPort = "port"
	// openLimit is how long it may take until a router has opened a node's ports: it is asked in three ways,
	// one after the other.
	openLimit = 20 * time.Second
	// gateProgram is the one of Debian's that opens ports on routers.
	gateProgram = "miniupnpd"
)

// What nft says of a router that opens ports to those inside who ask it, in chains of the program's.
const openingRouter = `table inet filter {
  chain input {
    type filter hook input priority 0; policy drop; ct state established,related accept; iifname "lan*" accept;
  }
  chain forward {
    type filter hook forward priority 0; policy drop; ct state established,related accept; iifname "lan*" accept;
    jump miniupnpd;
  }
  chain miniupnpd { }
  chain prerouting { type nat hook prerouting priority -100; policy accept; jump prerouting_miniupnpd; }
  chain postrouting {
    type nat hook postrouting priority 100; policy accept; jump postrouting_miniupnpd; oifname "wan" masquerade;
  }
  chain prerouting_miniupnpd { }
  chain postrouting_miniupnpd { }
}
`

// gateRules is the program's configuration; what it speaks is filled in.
const gateRules = `ext_ifname=wan
listening_ip=lan1
enable_natpmp=%s
enable_upnp=%s
secure_mode=yes
uuid=00000000-0000-0000-0000-000000000000
upnp_table_name=filter
upnp_nat_table_name=filter
upnp_forward_chain=miniupnpd
upnp_nat_chain=prerouting_miniupnpd
upnp_nat_postrouting_chain=postrouting_miniupnpd
allow 1024-65535 0.0.0.0/0 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
`

// port puts a node behind a router that opens ports, by one way and another: strangers dial it, until it ends.
func port(ctx context.Context, tr *trial) error {
	if err := canNAT(ctx); err != nil {
		return err
	}
	if _, err := exec.LookPath(gateProgram); err != nil {
		return skip("there is no program " + gateProgram + "; on Debian, install miniupnpd-nftables")
	}
	in, err := newInternet(ctx)
	tr.undo = append(tr.undo, in.remove)
	if err != nil {
		return err
	}
	t := natTrial{trial: tr, in: in}
	t.report.Nodes = 2
	for _, way := range []struct{ name, pmp, upnp string }{{"PCP or NAT-PMP", "yes", "no"}, {"UPnP", "no", "yes"}} {
		if err := t.opens(ctx, way.name, fmt.Sprintf(gateRules, way.pmp, way.upnp)); err != nil {
			return err
		}
	}
	return nil
}

// opens tries one router.
func (t natTrial) opens(ctx context.Context, way, conf string) error {
	_, edge, err := t.in.site(ctx)
	if err != nil {
		return err
	}
	where, err := t.in.lan(ctx, edge, 1, "192.168.1")
	if err != nil {
		return err
	}
	if err := errors.Join(t.in.forwards(ctx, edge), t.in.nft(ctx, edge, openingRouter)); err != nil {
		return err
	}
	if err := t.gate(edge, conf); err != nil {
		return err
	}
	n := t.natNode(where)
	begun := time.Now()
	if err := t.startKnowing(ctx, n, nil); err != nil {
		return err
	}
	var s status
	err = until(ctx, openLimit, func() string {
		if s, err = n.ask.status(ctx); err != nil {
			return err.Error()
		}
		if len(s.Reach.Router.Open) < 2 {
			return fmt.Sprintf("%d ports are open: %s", len(s.Reach.Router.Open), s.Reach.Router.Why)
		}
		return ""
	})
	if !t.report.must("a router opens a node's ports when asked by "+way, err) {
		return ctx.Err()
	}
	by := s.Reach.Router.By
	t.report.show("asked by "+by+", until both ports are open", fmt.Sprintf("at most %v", openLimit), "%.1f s",
		time.Since(begun).Seconds())
	for _, o := range s.Reach.Router.Open {
		t.report.must(fmt.Sprintf("a stranger dials the node by %s at the port that %s opened", o.Protocol, by),
			t.dials(ctx, n, o.Protocol, o.Outside))
	}
	if err := n.stop(); err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, "ip", "netns", "exec", edge, "nft", "list", "ruleset").CombinedOutput()
	if err == nil && strings.Contains(string(said), "dnat") {
		err = errors.New("it leads them to a node that has ended")
	}
	t.report.must("the router has closed the ports when the node has ended, "+way, err)
	return ctx.Err()
}

// gate starts the program that opens ports on a router.
func (t natTrial) gate(edge, conf string) error {
	file := filepath.Join(t.dir, edge+".conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return fmt.Errorf("writing the router's configuration: %w", err)
	}
	log, err := os.Create(filepath.Join(t.dir, edge+".log"))
	if err != nil {
		return fmt.Errorf("making a log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command("ip", "netns", "exec", edge, gateProgram, "-d", "-f", file, "-P", file+".pid")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, ownGroup()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", gateProgram, err)
	}
	t.undo = append(t.undo, func() {
		killGroup(cmd.Process.Pid)
		_ = cmd.Wait() // it was killed
	})
	return nil
}

// dials has a stranger who was never dialled come to a node from elsewhere.
func (t natTrial) dials(ctx context.Context, n *node, protocol, outside string) error {
	h, err := t.natHost(ctx, natKinds[0], nil)
	if err != nil {
		return err
	}
	defer h.end()
	host, port, _ := strings.Cut(outside, ":")
	addr := fmt.Sprintf("/ip4/%s/%s/%s", host, protocol, port)
	if protocol == "udp" {
		addr += "/quic-v1"
	}
	a, err := h.tell(caller.Order{Do: caller.Meet, Peer: task.PeerID(n.peer), Addrs: []string{addr}})
	if err == nil && a.Direct == 0 {
		err = errors.New("it comes through " + a.Last)
	}
	return err
}
