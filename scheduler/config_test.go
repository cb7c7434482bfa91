package scheduler

import (
	"strings"
	"testing"
)

func TestConfigValidate(t *testing.T) {
	ok := Default()
	if err := ok.Validate(); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
	tests := []struct {
		want   string
		change func(*Config)
	}{
		{"LeaseTTL", func(c *Config) { c.LeaseTTL = 0 }},
		{"one lost report", func(c *Config) { c.LeaseTTL = c.ReportEvery }},
		{"ReportEvery", func(c *Config) { c.ReportEvery = -1 }},
		{"RetryMax", func(c *Config) { c.RetryMax = c.RetryMin - 1 }},
		{"must not be negative", func(c *Config) { c.Lookahead = -1 }},
		{"MaxUnackedBytes", func(c *Config) { c.Worker.MaxUnackedBytes = 0 }},
		{"MaxJobs", func(c *Config) { c.MaxJobs = 0 }},
		{"no policy", func(c *Config) { c.Placement = "nonsense" }},
	}
	for _, tt := range tests {
		c := Default()
		tt.change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", err, tt.want)
		}
	}
}
