package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A namespace is a host of its own, as far as networks go: one address, and one
// TUN device that leads to all others.
type namespace struct {
	name string
	addr [4]byte
	tun  *os.File
}

// nodePort is where a node listens in its namespace.
const nodePort = 4001

// canSplit says why there can be no namespaces here, or nothing.
func canSplit() error {
	if os.Geteuid() != 0 {
		return skip("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return skip("there is no program ip; on Debian, install iproute2")
	}
	tun, _, err := openTUN()
	if err != nil {
		return skip(err.Error())
	}
	return tun.Close()
}

// newNamespace makes the number-th namespace. Each is in a network of its own,
// 10.N.0.0/16: a group of coordinators is spread over those where it can be.
func newNamespace(ctx context.Context, number int) (*namespace, error) {
	const first = 70 // no network of importance here: nothing leaves these namespaces
	return newNamespaceAt(ctx, number, [4]byte{10, byte(first + number), 0, 1})
}

// newNamespaceAt makes the number-th namespace, with that address.
func newNamespaceAt(ctx context.Context, number int, addr [4]byte) (*namespace, error) {
	n := &namespace{name: fmt.Sprintf("chaos-%d-%d", os.Getpid(), number), addr: addr}
	if err := ip(ctx, "netns", "add", n.name); err != nil {
		return nil, skip("no network namespace can be made: " + err.Error())
	}
	tun, device, err := openTUN()
	if err != nil {
		n.remove()
		return nil, err
	}
	n.tun = tun
	for _, line := range []string{
		"link set dev " + device + " netns " + n.name,
		"-n " + n.name + " link set dev lo up",
		"-n " + n.name + " addr add " + n.ip() + "/32 dev " + device,
		"-n " + n.name + " link set dev " + device + " up",
		"-n " + n.name + " route add default dev " + device,
	} {
		if err := ip(ctx, strings.Fields(line)...); err != nil {
			tun.Close()
			n.remove()
			return nil, err
		}
	}
	return n, nil
}

func (n *namespace) ip() string {
	return fmt.Sprintf("%d.%d.%d.%d", n.addr[0], n.addr[1], n.addr[2], n.addr[3])
}

// listen is the multiaddr of the node there.
func (n *namespace) listen() string { return fmt.Sprintf("/ip4/%s/tcp/%d", n.ip(), nodePort) }

// launch is the command that runs others there.
func (n *namespace) launch() []string { return []string{"ip", "netns", "exec", n.name} }

// remove takes the namespace away; its device goes with the device's file.
func (n *namespace) remove() { _ = ip(context.Background(), "netns", "del", n.name) }

// ip runs the program of that name.
func ip(ctx context.Context, args ...string) error {
	if said, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(said)))
	}
	return nil
}
