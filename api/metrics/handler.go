package metrics

import (
	"context"
	"net/http"
	"strings"
	"time"

	"godwit/node"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// measureTime bounds how long the node may take to answer: a scraper waits for 10 s, unless told
// otherwise.
const measureTime = 5 * time.Second

// atOnce bounds those who are answered at the same time; others get 503.
const atOnce = 4

// A Source is a node.
type Source interface {
	Measures(ctx context.Context) (node.Measures, error)
}

// Handler shows what a source measures in the format that a Prometheus asks for, and what the program's
// runtime and process take. Each request looks anew; between requests nothing is done.
func Handler(from Source) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(newCollector(from), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: atOnce, Timeout: 2 * measureTime})
}

// A collector implements prometheus.Collector.
type collector struct {
	from     Source
	families []collected
	descs    []*prometheus.Desc // of each
}

func newCollector(from Source) *collector {
	c := &collector{from: from, families: all()}
	for _, f := range c.families {
		c.descs = append(c.descs, prometheus.NewDesc(f.Name, f.Help, f.Labels, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), measureTime)
	defer cancel()
	m, err := c.from.Measures(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(c.descs[0], err)
		return
	}
	for i, f := range c.families {
		f.from(&m, func(value float64, labels ...string) {
			for i, l := range labels { // names of overlays and protocols come from others
				labels[i] = strings.ToValidUTF8(l, "\ufffd")
			}
			to <- prometheus.MustNewConstMetric(c.descs[i], f.kind(), value, labels...)
		})
	}
}
