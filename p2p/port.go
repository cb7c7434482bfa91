package p2p

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
)

const (
	// firstPort and ports are those that a node draws its own from: above the well-known ones, and
	// below 32768, where systems begin with those that they give to whoever asks for any.
	firstPort, ports = 20_000, 12_000
	portTries        = 100
)

// DrawPort returns a port for a node to listen on, at random, so that nodes behind one router have
// ports of their own; 0 where none of many is free.
func DrawPort() int {
	for range portTries {
		if port := firstPort + rand.IntN(ports); PortFree(port) {
			return port
		}
	}
	return 0
}

// PortFree reports whether nobody on this machine listens on a port, by TCP or UDP.
func PortFree(port int) bool {
	at := fmt.Sprintf(":%d", port)
	l, err := net.Listen("tcp", at)
	if err != nil {
		return false
	}
	defer l.Close()
	p, err := net.ListenPacket("udp", at)
	if err != nil {
		return false
	}
	p.Close()
	return true
}

// Everywhere returns the addresses of every interface at a port, those that a private swarm can
// use if it is one.
func Everywhere(port int, private bool) []string {
	all := publicListen
	if private {
		all = privateListen
	}
	all = slices.Clone(all)
	for i, a := range all {
		for _, kind := range []string{"/tcp/", "/udp/"} {
			a = strings.Replace(a, kind+"0", fmt.Sprint(kind, port), 1)
		}
		all[i] = a
	}
	return all
}

// CheckAddr says what keeps a text from being the address of a peer, with /p2p/ID at its end.
func CheckAddr(text string) error {
	_, err := parseNamed(text)
	return err
}
