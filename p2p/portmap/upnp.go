package portmap

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	pageTime = 3 * time.Second // for each page of the router
	maxHead  = 16 << 10        // bytes of a page's header
	maxPage  = 256 << 10       // bytes of a page: descriptions have some ten thousand
	maxText  = 1 << 10         // bytes of one text in it that is looked at

	described   = "godwit" // as routers list the port
	otherPorts  = 3        // that are tried where the router has given one to another machine
	maxServices = 32       // of a description
)

// The services that lead ports, as routers name them.
var services = []string{
	"urn:schemas-upnp-org:service:WANIPConnection:2",
	"urn:schemas-upnp-org:service:WANIPConnection:1",
	"urn:schemas-upnp-org:service:WANPPPConnection:1",
}

// Errors that routers number, by UPnP's WANIPConnection:1, section 2.4.16.
const (
	portOfAnother   = "718"
	permanentPorts  = "725"
	errorCodeOfUPnP = "errorCode"
)

// upnp speaks to a service of the router.
type upnp struct {
	router
	service string   // one of services
	control *url.URL // nil until it was found
}

func (*upnp) name() string { return "UPnP" }

// find searches for the service, until it was found once.
func (u *upnp) find(ctx context.Context) error {
	if u.control != nil {
		return nil
	}
	where, err := u.search(ctx)
	if err != nil {
		return err
	}
	page, err := u.fetch(ctx, where, "", nil)
	if err != nil {
		return err
	}
	service, at, err := readDescription(page)
	if err != nil {
		return err
	}
	control, err := where.Parse(at)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if err := u.owns(control); err != nil {
		return err
	}
	u.service, u.control = service, control
	return nil
}

func (u *upnp) open(ctx context.Context, p Port, outside uint16) (g grant, err error) {
	if err := u.find(ctx); err != nil {
		return g, err
	}
	said, err := u.call(ctx, "GetExternalIPAddress", nil)
	if err != nil {
		return g, err
	}
	at, err := netip.ParseAddr(said["NewExternalIPAddress"])
	if err != nil {
		return g, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	for try := range uint16(otherPorts) {
		port := outside + try
		if port == 0 {
			continue
		}
		_, err = u.call(ctx, "AddPortMapping", [][2]string{
			{"NewRemoteHost", ""}, {"NewExternalPort", strconv.Itoa(int(port))}, {"NewProtocol", p.upper()},
			{"NewInternalPort", strconv.Itoa(int(p.Number))}, {"NewInternalClient", u.self.String()}, {"NewEnabled", "1"},
			{"NewPortMappingDescription", described}, {"NewLeaseDuration", strconv.Itoa(int(Life / time.Second))},
		})
		var f *fault
		switch {
		case errors.As(err, &f) && f.code == portOfAnother:
			continue
		case errors.As(err, &f) && f.code == permanentPorts:
			return g, fmt.Errorf("%w: it opens ports for good alone, and would leave them open", ErrRefused)
		}
		return grant{netip.AddrPortFrom(at.Unmap(), port), Life}, err
	}
	return g, err
}

func (u *upnp) shut(ctx context.Context, p Port, outside uint16) error {
	_, err := u.call(ctx, "DeletePortMapping", [][2]string{
		{"NewRemoteHost", ""}, {"NewExternalPort", strconv.Itoa(int(outside))}, {"NewProtocol", p.upper()},
	})
	return err
}

func (p Port) upper() string { return strings.ToUpper(string(p.Protocol)) }

// A fault is an error that the service numbers.
type fault struct{ code string }

// Error implements error.
func (f *fault) Error() string { return fmt.Sprintf("%v: UPnP says %q", ErrRefused, f.code) }

// Unwrap is ErrRefused.
func (f *fault) Unwrap() error { return ErrRefused }

// call has the service do something, and returns the texts of its answer by their names.
func (u *upnp) call(ctx context.Context, action string, args [][2]string) (map[string]string, error) {
	var b strings.Builder
	b.WriteString(xml.Header + `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" ` +
		`s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>`)
	fmt.Fprintf(&b, `<u:%s xmlns:u=%q>`, action, u.service)
	for _, a := range args { // of names and values that this program chooses
		fmt.Fprintf(&b, "<%s>%s</%s>", a[0], a[1], a[0])
	}
	fmt.Fprintf(&b, "</u:%s></s:Body></s:Envelope>\r\n", action)
	page, err := u.fetch(ctx, u.control, fmt.Sprintf("%q", u.service+"#"+action), strings.NewReader(b.String()))
	if err != nil {
		return nil, err
	}
	said, err := readTexts(page, "NewExternalIPAddress", errorCodeOfUPnP)
	if code, isFault := said[errorCodeOfUPnP]; err == nil && isFault {
		err = &fault{code}
	}
	return said, err
}

// owns says what keeps an address from being one of the router's.
func (r router) owns(u *url.URL) error {
	at, err := netip.ParseAddr(u.Hostname())
	if err != nil || at.Unmap() != r.addr || u.Scheme != "http" {
		return fmt.Errorf("%w: it sends to %.100q", ErrAnswer, u.Redacted())
	}
	return nil
}

// fetch reads a page of the router: with an action one that a service answers with.
func (r router) fetch(ctx context.Context, from *url.URL, action string, body io.Reader) ([]byte, error) {
	if err := r.owns(from); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, from.String(), body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if action != "" {
		req.Header.Set("SOAPAction", action)
		req.Header.Set("Content-Type", `text/xml; charset="utf-8"`)
	}
	dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(r.self, 0))}
	client := http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: maxHead, DialContext: dialer.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSilent, err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrSilent, err)
	case len(page) > maxPage:
		return nil, fmt.Errorf("%w: a page of more than %d bytes", ErrAnswer, maxPage)
	case resp.StatusCode != http.StatusOK && (body == nil || resp.StatusCode != http.StatusInternalServerError):
		return nil, fmt.Errorf("%w: the answer is %d", ErrRefused, resp.StatusCode)
	}
	return page, nil // with 500, a fault
}

// readDescription finds the service that leads ports in a device's description, and where it is asked.
func readDescription(page []byte) (service, control string, err error) {
	found := map[string]string{}
	var kind, at string
	err = eachText(page, func(name, text string) {
		switch name {
		case "serviceType":
			kind, at = text, ""
		case "controlURL":
			at = text
		}
		if kind != "" && at != "" && found[kind] == "" && len(found) < maxServices {
			found[kind] = at
		}
	})
	if err != nil {
		return "", "", err
	}
	for _, s := range services {
		if found[s] != "" {
			return s, found[s], nil
		}
	}
	return "", "", fmt.Errorf("%w: it describes nothing that leads ports", ErrRefused)
}

// readTexts returns the texts of those names, the first of each.
func readTexts(page []byte, names ...string) (map[string]string, error) {
	out := map[string]string{}
	err := eachText(page, func(name, text string) {
		if _, have := out[name]; !have && slices.Contains(names, name) {
			out[name] = text
		}
	})
	return out, err
}

// eachText calls f with each element of a page that has text in it, of at most maxText bytes.
func eachText(page []byte, f func(name, text string)) error {
	d := xml.NewDecoder(strings.NewReader(string(page)))
	name := ""
	for {
		t, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", ErrAnswer, err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			name = t.Name.Local
		case xml.EndElement:
			name = ""
		case xml.CharData:
			if text := strings.TrimSpace(string(t)); name != "" && text != "" && len(text) <= maxText {
				f(name, text)
			}
		}
	}
}
