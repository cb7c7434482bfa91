package p2p_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/overlay"
	"godwit/p2p"
)

// A swarm of this many members, of which the hosts are some: each host also
// publishes the adverts of members that have no host. What a host sends and
// receives depends on how many adverts there are and how many copies of each
// travel, not on how many hosts carry them.
type crowd struct {
	hosts, members int
	measured       time.Duration // after everyone is known
}

// crowdOf takes sizes from the environment: "hosts members hours".
func crowdOf(t *testing.T, text string) crowd {
	t.Helper()
	var c crowd
	var hours float64
	if _, err := fmt.Sscan(text, &c.hosts, &c.members, &hours); err != nil || c.hosts < 2 || c.members < 1 {
		t.Fatalf("GODWIT_TRAFFIC is %q, want for example %q: hosts, members, hours", text, "40 1000 24")
	}
	c.measured = time.Duration(hours * float64(time.Hour))
	return c
}

// As nodes do: an advert lives 45 minutes and is renewed after 13.5 to 15.
const (
	advertLife  = 45 * time.Minute
	renewMin    = 13*time.Minute + 30*time.Second
	renewSpread = 90 * time.Second
	warmUp      = 20 * time.Minute
	usualAdvert = 469    // bytes; see the test in overlay
	headers     = 20 + 8 // of IPv4 and UDP, a packet
	day         = 24 * time.Hour
	maxDay      = 250e6 // bytes a day that an idle node may cost, both ways
)

// What an idle node costs. The default is a small swarm for a quarter of an hour,
// whose bytes for each advert are bounded; GODWIT_TRAFFIC="40 1000 24" measures what
// the project promises: a day of 1,000 members.
func TestIdleTraffic(t *testing.T) {
	notUnderRace(t)
	text := os.Getenv("GODWIT_TRAFFIC")
	if text == "" {
		text = "8 200 0.25"
	}
	c := crowdOf(t, text)
	if c.hosts < c.members {
		defer p2p.PublishToMesh()()
	}
	synctest.Test(t, func(t *testing.T) {
		config := func(i int, cfg *p2p.Config) { cfg.Bootstrap = earlier(i) }
		net := testnet.New(t, c.hosts, testnet.Options{Alone: true, Config: config})
		members := c.enlist(t, net)
		time.Sleep(5 * time.Second)
		began := time.Now()
		c.live(t, members, began, warmUp)
		for i, n := range net.Nodes {
			if known := n.Stats().Adverts; known < c.members-1 {
				t.Errorf("host %d knows %d of %d others", i, known, c.members-1)
			}
		}
		before := snapshot(net)
		adverts := c.live(t, members, began.Add(warmUp), c.measured)
		after := snapshot(net)
		after.report(t, before, c, adverts)
		// Few adverts carry the same keepalives, and share packets less often.
		const perAdvert, slack = maxDay / (1000 * float64(day) / float64(renewMin+renewSpread/2)), 1.6
		if per := after.perAdvert(before, adverts); per > slack*perAdvert && c.hosts <= c.members {
			t.Errorf("an advert costs a node %.0f bytes, want at most %.0f", per, slack*perAdvert)
		}
	})
}

// earlier returns hosts that host i dials: as many as it would seek by itself,
// at random of those started before it.
func earlier(i int) []string {
	rng := rand.New(rand.NewPCG(1, uint64(i)))
	var addrs []string
	for _, j := range rng.Perm(i)[:min(i, p2p.WantPeers)] {
		addrs = append(addrs, testnet.Addr(j))
	}
	return addrs
}

// A member lives on a host, which publishes for it.
type member struct {
	advert overlay.Advert
	node   *testnet.Node
	host   bool // it is the host itself
	next   time.Time
	rng    *rand.Rand
	index  int
}

func (c crowd) enlist(t *testing.T, net *testnet.Net) []*member {
	t.Helper()
	var all []*member
	for i := range c.members {
		id, err := p2p.PeerIDOf(testnet.Key(i))
		if err != nil {
			t.Fatal(err)
		}
		m := &member{node: net.Nodes[i%c.hosts], host: i < c.hosts, index: i, rng: rand.New(rand.NewPCG(2, uint64(i)))}
		m.next = time.Now().Add(5*time.Second + time.Duration(m.rng.Int64N(int64(warmUp*3/4))))
		m.advert = overlay.Advert{
			Peer: id, Overlay: testnet.Overlay("test"), Slots: 8, Free: 8, Memory: 17_179_869_184, Speed: 1.25,
			Version: "v0.3.0-dev", Record: make([]byte, overlay.MaxRecord),
		}
		if m.host {
			m.advert.Addrs = m.node.AdvertAddrs(1)
		}
		all = append(all, m)
	}
	return all
}

// renew publishes the member's advert, as long as a usual one.
func (m *member) renew(t *testing.T, now time.Time) {
	a := &m.advert
	a.Seq, a.Issued, a.Expires = uint64(now.UnixNano()), now, now.Add(advertLife)
	for {
		resignAs(t, m.index, a)
		b := encode(t, *a)
		if len(b) < usualAdvert && len(a.Spells) < overlay.MaxSpells {
			a.Spells = append(a.Spells, make([]byte, min(usualAdvert-len(b), overlay.MaxSpells-len(a.Spells)))...)
			continue
		}
		if m.host {
			if err := m.node.SetAdvert(*a); err != nil {
				t.Fatal(err)
			}
		} else {
			m.node.Say(m.advert.Overlay, b)
		}
		break
	}
	m.next = now.Add(renewMin + time.Duration(m.rng.Int64N(int64(renewSpread))))
}

func resignAs(t *testing.T, i int, a *overlay.Advert) {
	t.Helper()
	if err := a.Sign(testnet.Key(i)); err != nil {
		t.Fatal(err)
	}
}

// live has the members renew their adverts for a while and returns how many
// they published.
func (c crowd) live(t *testing.T, members []*member, from time.Time, d time.Duration) int {
	t.Helper()
	published := 0
	for end := from.Add(d); ; published++ {
		m := slices.MinFunc(members, func(a, b *member) int { return a.next.Compare(b.next) })
		if m.next.After(end) {
			time.Sleep(time.Until(end))
			return published
		}
		time.Sleep(time.Until(m.next))
		m.renew(t, time.Now())
	}
}

// A count is what all hosts have sent and received until a moment.
type count struct {
	at        time.Time
	hosts     int
	wire      testnet.Wire
	protocols map[string]p2p.Traffic
	peers     int
	largest   []int64 // of each host, both ways
	dropped   map[string]uint64
}

func snapshot(net *testnet.Net) count {
	c := count{at: time.Now(), hosts: len(net.Nodes), protocols: map[string]p2p.Traffic{}, dropped: map[string]uint64{}}
	for _, n := range net.Nodes {
		w, s := n.Wire(), n.Stats()
		c.wire.BytesIn += w.BytesIn
		c.wire.BytesOut += w.BytesOut
		c.wire.PacketsIn += w.PacketsIn
		c.wire.PacketsOut += w.PacketsOut
		c.largest = append(c.largest, w.BytesIn+w.BytesOut+headers*(w.PacketsIn+w.PacketsOut))
		c.peers += s.Peers
		for id, p := range s.Protocols {
			sum := c.protocols[id]
			c.protocols[id] = p2p.Traffic{In: sum.In + p.In, Out: sum.Out + p.Out}
		}
		for reason, k := range s.DroppedAdverts {
			c.dropped[reason] += k
		}
	}
	return c
}

// perAdvert returns the bytes that a host moved both ways for each advert,
// everything else divided among them.
func (c count) perAdvert(before count, adverts int) float64 {
	in, out := c.bytes(before)
	return float64(in+out) / float64(c.hosts*adverts)
}

// bytes returns what all hosts received and sent, with the headers of IP.
func (c count) bytes(before count) (in, out int64) {
	return c.wire.BytesIn - before.wire.BytesIn + headers*(c.wire.PacketsIn-before.wire.PacketsIn),
		c.wire.BytesOut - before.wire.BytesOut + headers*(c.wire.PacketsOut-before.wire.PacketsOut)
}

func (c count) report(t *testing.T, before count, cr crowd, adverts int) {
	took := c.at.Sub(before.at)
	mb := func(n int64) float64 { return float64(n) / 1e6 / float64(c.hosts) * day.Seconds() / took.Seconds() }
	var b strings.Builder
	fmt.Fprintf(&b, "%d members on %d hosts with %.1f connections each, %v: %d adverts of %d bytes\n", cr.members, c.hosts,
		float64(c.peers)/float64(c.hosts), took, adverts, usualAdvert)
	fmt.Fprintf(&b, "%-28s %9s %9s %9s\n", "MB per node and day", "received", "sent", "both")
	row := func(name string, in, out int64) {
		fmt.Fprintf(&b, "%-28s %9.2f %9.2f %9.2f\n", name, mb(in), mb(out), mb(in+out))
	}
	in, out := c.bytes(before)
	row("all, with IP headers", in, out)
	udpIn, udpOut := c.wire.BytesIn-before.wire.BytesIn, c.wire.BytesOut-before.wire.BytesOut
	row("  UDP payload", udpIn, udpOut)
	var payIn, payOut int64
	for _, id := range slices.Sorted(maps.Keys(c.protocols)) {
		p, was := c.protocols[id], before.protocols[id]
		payIn, payOut = payIn+p.In-was.In, payOut+p.Out-was.Out
		row("    "+id, p.In-was.In, p.Out-was.Out)
	}
	row("    QUIC", udpIn-payIn, udpOut-payOut)
	row("  IP and UDP headers", in-udpIn, out-udpOut)
	var most int64
	for i := range c.largest {
		most = max(most, c.largest[i]-before.largest[i])
	}
	fmt.Fprintf(&b, "the busiest host %s MB, %.0f bytes per advert and node, packets in and out per node and day %.0f, "+
		"dropped %v",
		strconv.FormatFloat(float64(most)/1e6*day.Seconds()/took.Seconds(), 'f', 1, 64), c.perAdvert(before, adverts),
		mb(1e6*(c.wire.PacketsIn+c.wire.PacketsOut-before.wire.PacketsIn-before.wire.PacketsOut)), c.dropped)
	t.Log(b.String())
}
