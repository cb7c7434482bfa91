package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"godwit/internal/pause"
)

// A router carries packets between TUN devices over a link.
type router struct {
	ports []*os.File // by port
	in    chan arrival
	do    chan func(*link) // run by the one goroutine that has the link
	wg    sync.WaitGroup
}

type arrival struct {
	port   int
	packet []byte
}

const (
	// mtuMost is the longest packet that is read, in bytes; the devices' own limit
	// is 1500.
	mtuMost = 1 << 16
	// burst is how many packets may wait for the router before devices do.
	burst = 256
)

// route carries packets until ctx ends.
func route(ctx context.Context, l *link, ports []*os.File) *router {
	r := &router{ports: ports, in: make(chan arrival, burst), do: make(chan func(*link))}
	for i := range ports {
		r.wg.Go(func() { r.read(ctx, i) })
	}
	r.wg.Go(func() { r.carry(ctx, l) })
	return r
}

// wait closes the devices and waits for the router, whose context has ended.
func (r *router) wait() {
	for _, p := range r.ports {
		p.Close() // so that reading ends
	}
	r.wg.Wait()
}

func (r *router) read(ctx context.Context, port int) {
	buf := make([]byte, mtuMost)
	for {
		n, err := r.ports[port].Read(buf)
		if errors.Is(err, os.ErrClosed) || ctx.Err() != nil {
			return
		}
		if err != nil {
			// A device that is down says so until it is up.
			if pause.For(ctx, lookAgain) != nil {
				return
			}
			continue
		}
		select {
		case r.in <- arrival{port, append([]byte(nil), buf[:n]...)}:
		case <-ctx.Done():
			return
		}
	}
}

func (r *router) carry(ctx context.Context, l *link) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case a := <-r.in:
			l.offer(time.Now(), a.port, a.packet)
		case f := <-r.do:
			f(l)
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		for {
			p, ok := l.arrive(time.Now())
			if !ok {
				break
			}
			_, _ = r.ports[p.port].Write(p.packet) // a full or closed device loses packets, as networks do
		}
		if due, ok := l.next(); ok {
			timer.Reset(time.Until(due))
		}
	}
}

// ask runs f with the link and waits for it.
func (r *router) ask(ctx context.Context, f func(*link)) error {
	done := make(chan struct{})
	select {
	case r.do <- func(l *link) { f(l); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return fmt.Errorf("telling the router: %w", ctx.Err())
	}
}
