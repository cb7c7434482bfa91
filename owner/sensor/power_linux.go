package sensor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// PowerSupply reads /sys/class/power_supply: mains and batteries.
type PowerSupply struct {
	Sys string // root of sysfs; "" for /sys
}

// powerEvery is how often that is read. A question may reach the battery's
// controller, which takes milliseconds.
const powerEvery = 2 * time.Second

// Name returns "power".
func (PowerSupply) Name() string { return "power" }

// Kinds returns Power.
func (PowerSupply) Kinds() []Kind { return []Kind{Power} }

// Run watches until ctx ends.
func (p PowerSupply) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, p, report, func(ctx context.Context) error {
		var last Reading
		return poll(ctx, powerEvery, func() error {
			r, err := p.read()
			if err != nil {
				return err
			}
			if r.On != last.On || r.Value != last.Value || r.Detail != last.Detail || last.At.IsZero() {
				r.Sensor, r.Kind, r.At = p.Name(), Power, time.Now()
				last = r
				report(r)
			}
			return nil
		})
	})
}

// read says that the machine is on batteries when mains are there and off, or
// when a battery discharges and no mains are on. A machine with neither has
// mains that the kernel does not know.
func (p PowerSupply) read() (Reading, error) {
	dir := filepath.Join(orRoot(p.Sys, "/sys"), "class", "power_supply")
	if _, err := os.Stat(dir); err != nil {
		return Reading{}, blind("the kernel tells nothing of power supplies", "nothing to do on a machine without a battery")
	}
	supplies, _ := filepath.Glob(filepath.Join(dir, "*"))
	mains, online, batteries, discharging, charge := 0, 0, 0, 0, 0.0
	for _, s := range supplies {
		field := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(s, name))
			return strings.TrimSpace(string(b))
		}
		if field("scope") == "Device" {
			continue // the battery of a mouse
		}
		switch field("type") {
		case "Mains", "USB", "Wireless":
			mains++
			if field("online") != "0" {
				online++
			}
		case "Battery", "UPS":
			batteries++
			if field("status") == "Discharging" {
				discharging++
			}
			percent, _ := strconv.ParseFloat(field("capacity"), 64)
			charge += percent / 100
		}
	}
	r := Reading{On: batteries > 0 && online == 0 && (mains > 0 || discharging > 0)}
	if batteries > 0 {
		r.Value = min(max(charge/float64(batteries), 0), 1)
	}
	r.Detail = fmt.Sprintf("%d of %d mains on, %d batteries at %.0f %%", online, mains, batteries, r.Value*100)
	return r, nil
}
