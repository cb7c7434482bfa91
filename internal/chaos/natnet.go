package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"godwit/p2p"
)

// An internet is network namespaces for hosts behind routers of several kinds, and one in the middle
// that carries packets between their public addresses. The kernel's own NAT is what routers do.
type internet struct {
	name  string // of the middle, and the beginning of all others
	sites int
	made  []string // namespaces
}

// A natKind is how a host is connected to the internet.
type natKind struct {
	name  string
	short string  // for the matrix
	nat   p2p.NAT // what its host is to find out, if anything
	// build makes the namespace of a host at the edge of a site, whose public addresses the edge
	// has, and returns its name.
	build func(ctx context.Context, in *internet, site int, edge string) (string, error)
}

// publicKind is a host that everybody can dial.
const publicKind = "public"

// routersOf reads which kinds are to meet: their short names, with commas between them; "" is all.
func routersOf(list string) (kinds []natKind, err error) {
	if list == "" {
		return natKinds, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(natKinds, func(k natKind) bool { return k.short == name })
		if i < 0 {
			return nil, fmt.Errorf("--routers %s: %q is none of %s", list, name, strings.Join(routerNames(), ", "))
		}
		kinds = append(kinds, natKinds[i])
	}
	return kinds, nil
}

func routerNames() (names []string) {
	for _, k := range natKinds {
		names = append(names, k.short)
	}
	return names
}

// The kinds of connections, in the order of the matrix.
var natKinds = []natKind{
	{"public", publicKind, p2p.UnknownNAT, func(_ context.Context, _ *internet, _ int, edge string) (string, error) {
		return edge, nil
	}},
	{"behind a NAT that keeps its port for all", "cone", p2p.EndpointIndependent, behind(masquerade)},
	{"behind a NAT with another port for each", "symm", p2p.EndpointDependent, behind(fullyRandom)},
	{"behind two NATs", "double", p2p.EndpointIndependent, behindTwo},
	{"behind a NAT, and UDP is dropped", "no UDP", p2p.EndpointIndependent, behind(masquerade + dropUDP)},
	{"IPv6 alone, behind a firewall", "IPv6", p2p.EndpointIndependent, behindFirewall},
}

// What nft says of a router whose way out is called wan. Nothing comes in that did not begin inside.
const (
	closedRouter = `table ip filter {
  chain input {
    type filter hook input priority 0; policy drop; ct state established,related accept; iifname "lan*" accept;
  }
  chain forward {
    type filter hook forward priority 0; policy accept; iifname "wan" ct state new drop; %s
  }
}
table ip nat {
  chain out { type nat hook postrouting priority 100; oifname "wan" %s; }
}
`
	masquerade  = "masquerade"
	fullyRandom = "masquerade fully-random"
	dropUDP     = ";no-udp"
	dropLAN     = ";no-lan" // from one network inside to another

	firewall = `table ip6 filter {
  chain forward { type filter hook forward priority 0; policy accept; iifname "wan" ct state new drop; }
}
`
)

// canNAT says why there can be no such network here, or nothing.
func canNAT(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return skip("network namespaces need root")
	}
	for program, from := range map[string]string{"ip": "iproute2", "nft": "nftables", "sysctl": "procps"} {
		if _, err := exec.LookPath(program); err != nil {
			return skip(fmt.Sprintf("there is no program %s; on Debian, install %s", program, from))
		}
	}
	in := &internet{name: fmt.Sprintf("try-%d", os.Getpid())}
	defer in.remove()
	if err := in.add(ctx, in.name); err != nil {
		return skip("no network namespace can be made: " + err.Error())
	}
	if err := in.nft(ctx, in.name, fmt.Sprintf(closedRouter, "", fullyRandom)); err != nil {
		return skip("this kernel has no NAT for nft: " + err.Error())
	}
	return nil
}

func newInternet(ctx context.Context) (*internet, error) {
	in := &internet{name: fmt.Sprintf("nat-%d", os.Getpid())}
	if err := in.add(ctx, in.name); err != nil {
		return in, err
	}
	return in, in.forwards(ctx, in.name)
}

// add makes a namespace.
func (in *internet) add(ctx context.Context, name string) error {
	if err := ip(ctx, "netns", "add", name); err != nil {
		return err
	}
	in.made = append(in.made, name)
	return ip(ctx, "-n", name, "link", "set", "dev", "lo", "up")
}

// remove takes all namespaces away.
func (in *internet) remove() {
	for i := len(in.made) - 1; i >= 0; i-- {
		_ = ip(context.Background(), "netns", "del", in.made[i])
	}
}

// forwards has a namespace carry packets for others.
func (in *internet) forwards(ctx context.Context, name string) error {
	return command(ctx, "", "ip", "netns", "exec", name, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1",
		"net.ipv6.conf.all.forwarding=1")
}

// nft gives a namespace rules.
func (in *internet) nft(ctx context.Context, name, rules string) error {
	return command(ctx, rules, "ip", "netns", "exec", name, "nft", "-f", "-")
}

// lines runs the program ip, a line each.
func lines(ctx context.Context, all ...string) error {
	for _, line := range all {
		if err := ip(ctx, strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// site makes the edge of a site: a namespace with a public address of each family, and one way out,
// which is called wan. Each is in a network of its own, as strangers are.
func (in *internet) site(ctx context.Context) (number int, edge string, err error) {
	in.sites++
	number, edge = in.sites, fmt.Sprintf("%s-%d", in.name, in.sites)
	if err := in.add(ctx, edge); err != nil {
		return 0, "", err
	}
	v4, v6, to := publicNet(number), publicNet6(number), fmt.Sprintf("to%d", number)
	return number, edge, lines(ctx,
		fmt.Sprintf("link add %s netns %s type veth peer name wan netns %s", to, in.name, edge),
		fmt.Sprintf("-n %s addr add %s.1/24 dev %s", in.name, v4, to),
		fmt.Sprintf("-n %s addr add %s::1/64 dev %s nodad", in.name, v6, to),
		fmt.Sprintf("-n %s link set dev %s up", in.name, to),
		fmt.Sprintf("-n %s addr add %s.2/24 dev wan", edge, v4),
		fmt.Sprintf("-n %s addr add %s::2/64 dev wan nodad", edge, v6),
		fmt.Sprintf("-n %s link set dev wan up", edge),
		fmt.Sprintf("-n %s route add default via %s.1", edge, v4),
		fmt.Sprintf("-6 -n %s route add default via %s::1", edge, v6),
	)
}

// publicNet and publicNet6 are the networks of a site: of those that anybody may have, since private
// ones are dialled by neighbours alone. Nothing of it leaves these namespaces.
func publicNet(site int) string  { return fmt.Sprintf("45.%d.0", 60+site) }
func publicNet6(site int) string { return fmt.Sprintf("2a02:%x:0:0", 0x1000+site) }

// lan makes a host behind a router, in a network of its own; the router's device is called lan and
// the number of the host there.
func (in *internet) lan(ctx context.Context, router string, host int, net string) (string, error) {
	name, device := fmt.Sprintf("%s-h%d", router, host), fmt.Sprintf("lan%d", host)
	if err := in.add(ctx, name); err != nil {
		return "", err
	}
	return name, lines(ctx,
		fmt.Sprintf("link add %s netns %s type veth peer name wan netns %s", device, router, name),
		fmt.Sprintf("-n %s addr add %s.1/24 dev %s", router, net, device),
		fmt.Sprintf("-n %s link set dev %s up", router, device),
		fmt.Sprintf("-n %s addr add %s.2/24 dev wan", name, net),
		fmt.Sprintf("-n %s link set dev wan up", name),
		fmt.Sprintf("-n %s route add default via %s.1", name, net),
	)
}

// behind is a host with an IPv4 address behind a router that does so.
func behind(how string) func(context.Context, *internet, int, string) (string, error) {
	return func(ctx context.Context, in *internet, _ int, edge string) (string, error) {
		if err := in.router(ctx, edge, how); err != nil {
			return "", err
		}
		return in.lan(ctx, edge, 1, "192.168.1")
	}
}

// router makes a namespace one that does so with what comes from inside.
func (in *internet) router(ctx context.Context, name, how string) error {
	nat, apart := strings.CutSuffix(how, dropLAN)
	nat, noUDP := strings.CutSuffix(nat, dropUDP)
	extra := ""
	if noUDP {
		extra += "meta l4proto udp drop; "
	}
	if apart {
		extra += `iifname "lan*" oifname "lan*" drop; `
	}
	if err := in.forwards(ctx, name); err != nil {
		return err
	}
	return in.nft(ctx, name, fmt.Sprintf(closedRouter, extra, nat))
}

// behindTwo is a host behind a router whose own address is another router's, as many providers have it.
func behindTwo(ctx context.Context, in *internet, _ int, edge string) (string, error) {
	if err := in.router(ctx, edge, masquerade); err != nil {
		return "", err
	}
	home, err := in.lan(ctx, edge, 1, "100.64.1")
	if err != nil {
		return "", err
	}
	if err := in.router(ctx, home, masquerade); err != nil {
		return "", err
	}
	return in.lan(ctx, home, 1, "192.168.1")
}

// behindFirewall is a host with an IPv6 address alone, to which nobody comes whom it has not talked to.
func behindFirewall(ctx context.Context, in *internet, site int, edge string) (string, error) {
	name := edge + "-h6"
	if err := in.add(ctx, name); err != nil {
		return "", err
	}
	net := fmt.Sprintf("2a02:%x:0:1", 0x1000+site)
	if err := in.forwards(ctx, edge); err != nil {
		return "", err
	}
	if err := in.nft(ctx, edge, firewall); err != nil {
		return "", err
	}
	return name, lines(ctx,
		fmt.Sprintf("link add lan6 netns %s type veth peer name wan netns %s", edge, name),
		fmt.Sprintf("-n %s addr add %s::1/64 dev lan6 nodad", edge, net),
		fmt.Sprintf("-n %s link set dev lan6 up", edge),
		fmt.Sprintf("-n %s addr add %s::2/64 dev wan nodad", name, net),
		fmt.Sprintf("-n %s link set dev wan up", name),
		fmt.Sprintf("-6 -n %s route add default via %s::1", name, net),
		fmt.Sprintf("-6 -n %s route add %s::/64 via %s::2", in.name, net, publicNet6(site)),
	)
}

// command runs a program with that input.
func command(ctx context.Context, input, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(input)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(said)))
	}
	return nil
}
