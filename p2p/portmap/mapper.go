package portmap

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// lookEvery is how often it is looked whether the router is another, or the ports are: a machine that
	// is carried from one network to the next is reached again after a minute.
	lookEvery = time.Minute
	// askAgain is how long a router that opened nothing is left alone.
	askAgain = 15 * time.Minute
	// shutTime bounds how long the ports' closing may hold up the end of the program.
	shutTime = time.Second
	// maxPorts bounds those that are asked for: two protocols, on a few addresses.
	maxPorts = 8
)

// A language is how a router is spoken to.
type language interface {
	name() string
	// open has a port led here, from that one outside if it can be had.
	open(ctx context.Context, p Port, outside uint16) (grant, error)
	shut(ctx context.Context, p Port, outside uint16) error
}

// A Mapper keeps ports open. Its methods are safe for concurrent use.
type Mapper struct {
	wanted  func() []Port // on which this machine listens
	nonce   Nonce
	changed func() // what is open has changed
	log     *slog.Logger
	find    func() (router, error)

	mu     sync.Mutex
	status Status
	open   map[Port]Open

	// Of Run alone.
	at    router
	by    language  // nil where the router was not asked, or opens nothing
	again time.Time // when to ask a router that opened nothing
}

// New returns a mapper of the ports that wanted returns, at most eight of them. It tells changed, from
// Run's goroutine, when others are open than before.
func New(wanted func() []Port, nonce Nonce, changed func(), log *slog.Logger) *Mapper {
	return &Mapper{wanted: wanted, nonce: nonce, changed: changed, log: log, find: find, open: map[Port]Open{}}
}

// Status says what the router does now.
func (m *Mapper) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.status
	s.Open = slices.AppendSeq(make([]Open, 0, len(m.open)), maps.Values(m.open))
	slices.SortFunc(s.Open, func(a, b Open) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Protocol, b.Protocol))
	})
	return s
}

// Outside returns where others dial a port.
func (m *Mapper) Outside(p Port) (netip.AddrPort, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.open[p]
	return o.Outside, ok && time.Now().Before(o.Until)
}

// Run keeps the ports open until ctx ends, and then closes them, for a second at most.
func (m *Mapper) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutTime)
			defer cancel()
			m.shutAll(ctx)
			return
		}
		if m.round(ctx, time.Now()) {
			m.changed()
		}
		timer.Reset(lookEvery)
	}
}

// round brings what is open up to date. It reports whether that changed.
func (m *Mapper) round(ctx context.Context, now time.Time) (news bool) {
	at, err := m.find()
	if at != m.at {
		news = m.drop() // what another router does for this machine is lost
		m.at, m.by, m.again = at, nil, time.Time{}
	}
	if err != nil {
		m.note(at.addr, "", err)
		return m.drop() || news
	}
	if m.by == nil {
		if now.Before(m.again) {
			return news
		}
		m.again = now.Add(askAgain)
		m.choose(ctx)
		if m.by == nil {
			return news
		}
	}
	return m.keep(ctx, now) || news
}

// drop forgets what was open. It reports whether anything was.
func (m *Mapper) drop() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	had := len(m.open) > 0
	clear(m.open)
	return had
}

// choose finds out what the router speaks, by having a port opened.
func (m *Mapper) choose(ctx context.Context) {
	ports := m.ports()
	if len(ports) == 0 {
		m.again = time.Time{}
		return
	}
	var all []error
	for _, l := range []language{pcp{m.at, m.nonce}, pmp{m.at}, &upnp{router: m.at}} {
		err := m.lead(ctx, l, ports[0])
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			m.by = l
			m.note(m.at.addr, l.name(), nil)
			m.log.Info("the router opens ports to this node", "router", m.at.addr, "by", l.name())
			return
		}
		all = append(all, err)
	}
	m.note(m.at.addr, "", worst(all))
	m.log.Debug("the router opens no ports", "router", m.at.addr, "why", errors.Join(all...))
}

// worst is what to tell of what went wrong in several languages: what a router said rather than that it
// does not know one of them.
func worst(all []error) error {
	for _, kind := range []error{ErrNested, ErrRefused, ErrAnswer} {
		for _, err := range slices.Backward(all) {
			if errors.Is(err, kind) {
				return err
			}
		}
	}
	return ErrSilent
}

// ports are those that are wanted, each once, in an order of theirs.
func (m *Mapper) ports() []Port {
	ports := m.wanted()
	slices.SortFunc(ports, func(a, b Port) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Protocol, b.Protocol))
	})
	ports = slices.Compact(ports)
	return ports[:min(len(ports), maxPorts)]
}

// keep asks again for what ends soon, and for what is not open yet, and closes what is wanted no more.
func (m *Mapper) keep(ctx context.Context, now time.Time) (news bool) {
	ports := m.ports()
	var wrong error
	for _, p := range ports {
		m.mu.Lock()
		have, ok := m.open[p]
		m.mu.Unlock()
		if ok && have.Until.Sub(now) > Life/2 {
			continue
		}
		before := have.Outside
		if err := m.lead(ctx, m.by, p); err != nil {
			wrong = err
		}
		if after, _ := m.Outside(p); after != before {
			news = true
		}
	}
	for _, o := range m.Status().Open {
		if !slices.Contains(ports, o.Port) {
			_ = m.by.shut(ctx, o.Port, o.Outside.Port()) // it ends by itself, too
			m.forget(o.Port)
			news = true
		}
	}
	if wrong == nil {
		m.note(m.at.addr, m.by.name(), nil)
	} else if len(m.Status().Open) == 0 { // it may speak another language now
		m.note(m.at.addr, "", wrong)
		m.by, m.again = nil, now.Add(askAgain)
	} else {
		m.note(m.at.addr, m.by.name(), wrong)
	}
	return news
}

// lead has one port led here.
func (m *Mapper) lead(ctx context.Context, l language, p Port) error {
	outside := p.Number
	m.mu.Lock()
	if o, ok := m.open[p]; ok {
		outside = o.Outside.Port()
	}
	m.mu.Unlock()
	now := time.Now()
	g, err := l.open(ctx, p, outside)
	if err != nil {
		m.expire(p, now)
		return err
	}
	if err := g.check(); err != nil {
		_ = l.shut(ctx, p, g.outside.Port()) // it is of no use
		m.forget(p)
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open[p] = Open{Port: p, Outside: g.outside, Until: g.until(now)}
	return nil
}

// expire forgets a port that the router has closed by now.
func (m *Mapper) expire(p Port, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.open[p]; ok && !now.Before(o.Until) {
		delete(m.open, p)
	}
}

func (m *Mapper) forget(p Port) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, p)
}

// note keeps what there is to tell.
func (m *Mapper) note(router netip.Addr, by string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status = Status{Asked: router.IsValid() && !errors.Is(err, ErrNoRouter), Router: router, By: by}
	if err != nil {
		m.status.Why = err.Error()
	}
}

// shutAll closes what is open.
func (m *Mapper) shutAll(ctx context.Context) {
	if m.by == nil {
		return
	}
	var wg sync.WaitGroup
	for _, o := range m.Status().Open {
		wg.Go(func() { _ = m.by.shut(ctx, o.Port, o.Outside.Port()) }) // it ends by itself where this fails
	}
	wg.Wait()
	m.drop()
}
