package portmap

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

const (
	searchTime = 2 * time.Second // for answers to come; routers are asked to hurry
	maxFound   = 64              // packets that are looked at
	maxNotice  = 2 << 10         // bytes of one
)

// searched are the devices that are looked for, of both versions.
var searched = []string{
	"urn:schemas-upnp-org:device:InternetGatewayDevice:2",
	"urn:schemas-upnp-org:device:InternetGatewayDevice:1",
}

// multicast is where devices hear searches (UPnP Device Architecture 1.1, section 1.3).
var multicast = netip.AddrFrom4([4]byte{239, 255, 255, 250})

// search asks the network for its router's description, and takes the router's answer alone.
func (r router) search(ctx context.Context) (*url.URL, error) {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(r.self, 0)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSilent, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	sent := 0
	for _, to := range []netip.Addr{multicast, r.addr} { // some hear one alone
		for _, target := range searched {
			text := fmt.Sprintf("M-SEARCH * HTTP/1.1\r\nHOST: %s:%d\r\nST: %s\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\n\r\n",
				multicast, ssdpPort, target)
			if _, err := conn.WriteToUDPAddrPort([]byte(text), netip.AddrPortFrom(to, r.ssdpPort)); err == nil {
				sent++
			}
		}
	}
	if sent == 0 {
		return nil, fmt.Errorf("%w: a search cannot be sent", ErrSilent)
	}
	return r.heard(ctx, conn)
}

// heard waits for the router's answer to a search.
func (r router) heard(ctx context.Context, conn *net.UDPConn) (*url.URL, error) {
	_ = conn.SetReadDeadline(time.Now().Add(searchTime))
	var b [maxNotice]byte
	wrong := ErrSilent
	for range maxFound {
		if ctx.Err() != nil {
			break
		}
		n, from, err := conn.ReadFromUDPAddrPort(b[:])
		if err != nil {
			break
		}
		if from.Addr().Unmap() != r.addr {
			continue // another machine, which would have ports opened to wherever it likes
		}
		where, err := readNotice(b[:n])
		if err == nil {
			err = r.owns(where)
		}
		if err == nil {
			return where, nil
		}
		wrong = err
	}
	return nil, wrong
}

// readNotice reads where a device is described.
func readNotice(b []byte) (*url.URL, error) {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b)), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	defer resp.Body.Close()
	where, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: %d, %w", ErrAnswer, resp.StatusCode, err)
	}
	return where, nil
}
