package overlay

import (
	"net/netip"
	"strings"
)

// The part of an address that says its network: one that is lost together more
// often than two are. A /16 is about one provider's region in IPv4, and a /32
// is what a provider gets in IPv6 (RFC 3177's successors; RIPE-738).
const (
	networkBits4 = 16
	networkBits6 = 32
)

// NetworkOf returns the network of a member with these addresses (multiaddrs),
// such as "198.51.0.0/16" or "2001:db8::/32": of the first that is public, else
// of the first at all. Addresses through a relay are the relay's and do not
// count. It is "" when no address tells.
func NetworkOf(addrs []string) string {
	first := ""
	for _, a := range addrs {
		ip, ok := directIP(a)
		if !ok {
			continue
		}
		bits := networkBits6
		if ip.Is4() {
			bits = networkBits4
		}
		prefix, err := ip.Prefix(bits)
		if err != nil {
			continue
		}
		if ip.IsGlobalUnicast() && !ip.IsPrivate() {
			return prefix.String()
		}
		if first == "" {
			first = prefix.String()
		}
	}
	return first
}

// PublicNetworkOf is NetworkOf, but "" where no address is public: who is on one local network is
// not of one provider.
func PublicNetworkOf(addrs []string) string {
	network := NetworkOf(addrs)
	p, err := netip.ParsePrefix(network)
	if err != nil || !p.Addr().IsGlobalUnicast() || p.Addr().IsPrivate() {
		return ""
	}
	return network
}

// directIP is the IP address that a multiaddr begins with.
func directIP(addr string) (netip.Addr, bool) {
	parts := strings.SplitN(addr, "/", 4)
	if len(parts) < 3 || parts[0] != "" || parts[1] != "ip4" && parts[1] != "ip6" ||
		strings.Contains(addr, "/p2p-circuit") {
		return netip.Addr{}, false
	}
	ip, err := netip.ParseAddr(parts[2])
	if err != nil {
		return netip.Addr{}, false
	}
	return ip.WithZone("").Unmap(), true
}
