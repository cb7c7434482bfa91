package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const (
	// dayOfEvents is how many events 20 hours have, if each second has one.
	dayOfEvents = 20 * 60 * 60
	// growth is how much the page may grow from a quarter of the day to its end, in bytes: an event that stays would take
	// hundreds of bytes, and there are tens of thousands.
	growth = 2 << 20
	// nodeGrowth is how much the node may grow meanwhile, in bytes resident: its heap breathes by less, and a kilobyte
	// that stays of each event would be twice as much.
	nodeGrowth = 32 << 20
	// dayTime is how long the day may take.
	dayTime = 3 * time.Minute
)

// A day sends the events of 20 hours as fast as a page takes them, with a stop after a quarter.
type day struct {
	home   func() []byte
	sent   atomic.Int64
	passed chan struct{} // closed to go on after the quarter
}

func (d *day) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := w.(http.Flusher)
	topics := []string{"jobs", "members", "decisions", "machine", "overlays"}
	for d.sent.Load() < dayOfEvents && r.Context().Err() == nil {
		i := d.sent.Add(1)
		if i == dayOfEvents/4 {
			flush.Flush()
			select {
			case <-d.passed:
			case <-r.Context().Done():
			}
		}
		fmt.Fprintf(w, "id: %d\nevent: %s\ndata: {}\n\nid: %d\nevent: home\ndata: %s\n\n", i, topics[i%5], i, d.home())
	}
	flush.Flush()
	<-r.Context().Done()
}

// heap is what the page holds, once what it does not need is gone.
func (t *tab) heap() (float64, error) {
	if err := tellTab(t, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		return 0, err
	}
	u, err := chromedp.Call(t.ctx, runtime.GetHeapUsage, cdp.Empty{})
	return u.UsedSize, err
}

// seeDay leaves Home open through 20 hours of events.
func seeDay(f *face) (string, error) {
	d := &day{passed: make(chan struct{})}
	r, err := newRelay(f.swarm, 0, func(v any) any { return v }, d.serve, true)
	if err != nil {
		return "", err
	}
	defer r.Close()
	token, err := f.swarm.token(0)
	if err != nil {
		return "", err
	}
	home, err := r.answer(f.swarm.origin(0)+"/v1/home", token)
	if err != nil {
		return "", err
	}
	d.home = func() []byte { return home }
	t, err := f.browser.openTab(r.URL)
	if err != nil {
		return "", err
	}
	defer t.close()
	if err := t.pass(r.door()); err != nil {
		return "", err
	}
	if err := t.visit(""); err != nil {
		return "", err
	}
	early, err := d.heapAfter(t, dayOfEvents/4)
	if err != nil {
		return "", err
	}
	before, err := f.swarm.used(0)
	if err != nil {
		return "", err
	}
	close(d.passed)
	late, err := d.heapAfter(t, dayOfEvents)
	if err != nil {
		return "", err
	}
	after, err := f.swarm.used(0)
	switch {
	case err != nil:
	case late-early > growth:
		err = fmt.Errorf("the page holds %.1f MiB after a quarter, and %.1f MiB at the end", mib(early), mib(late))
	case after.memory > before.memory+nodeGrowth:
		err = fmt.Errorf("the node holds %.0f MiB after a quarter, and %.0f MiB at the end", mib(float64(before.memory)),
			mib(float64(after.memory)))
	}
	return fmt.Sprintf("%.1f MiB after a quarter, %.1f MiB after %d events; the node %.0f and %.0f MiB", mib(early),
		mib(late), 2*dayOfEvents, mib(float64(before.memory)), mib(float64(after.memory))), err
}

func mib(n float64) float64 { return n / (1 << 20) }

// heapAfter waits until so many events are sent and heard.
func (d *day) heapAfter(t *tab, n int64) (float64, error) {
	deadline := time.NewTimer(dayTime)
	defer deadline.Stop()
	again := time.NewTicker(looking)
	defer again.Stop()
	for d.sent.Load() < n {
		select {
		case <-again.C:
		case <-deadline.C:
			return 0, fmt.Errorf("%d of %d events were taken", d.sent.Load(), n)
		}
	}
	return t.heap()
}
