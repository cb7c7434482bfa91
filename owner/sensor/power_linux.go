package sensor

import (
	"context"
	"fmt"
	"math"
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
		return Poll(ctx, powerEvery, func() error {
			r, err := p.read()
			if err != nil {
				return err
			}
			if r.On != last.On || r.Gauged != last.Gauged || r.Value != last.Value || r.Detail != last.Detail ||
				last.At.IsZero() {
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
	mains, online, batteries, discharging := 0, 0, 0, 0
	var charge fuel
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
			if field("present") == "0" {
				continue // an empty bay
			}
			batteries++
			if field("status") == "Discharging" {
				discharging++
			}
			charge.add(field)
		}
	}
	r := Reading{On: batteries > 0 && online == 0 && (mains > 0 || discharging > 0)}
	r.Value, r.Gauged = charge.share()
	r.Detail = fmt.Sprintf("%d of %d mains on, %d batteries", online, mains, batteries)
	return r, nil
}

// A fuel adds up what the batteries of a machine hold. Whoever tells neither
// energy nor a percentage is left out: an unknown charge is not an empty one.
type fuel struct {
	now, full [2]float64 // µWh and µAh, of those that tell both
	whole     [2]int     // how many they are
	shares    float64    // of all that tell
	told      int        // how many they are
}

func (f *fuel) add(field func(string) string) {
	number := func(name string) (float64, bool) {
		n, err := strconv.ParseFloat(field(name), 64)
		return n, err == nil && n >= 0 && !math.IsInf(n, 0) && !math.IsNaN(n)
	}
	share, ok := 0.0, false
	for unit, name := range [2]string{"energy", "charge"} {
		now, okNow := number(name + "_now")
		full, okFull := number(name + "_full")
		if okNow && okFull && full > 0 {
			f.now[unit], f.full[unit], f.whole[unit] = f.now[unit]+now, f.full[unit]+full, f.whole[unit]+1
			share, ok = now/full, true
			break
		}
	}
	if percent, told := number("capacity"); told {
		share, ok = percent/100, true
	}
	if ok {
		f.shares, f.told = f.shares+min(share, 1), f.told+1
	}
}

// gaugeSteps is how finely energy is told: changes below a thousandth are noise,
// and each is a report.
const gaugeSteps = 1000

// share returns the charge of all, from 0 to 1; false if none tells. Energy
// weighs a small battery as it is, and changes before a percentage does: it
// counts where all that tell anything tell it in one unit.
func (f *fuel) share() (float64, bool) {
	if f.told == 0 {
		return 0, false
	}
	for unit, n := range f.whole {
		if n == f.told {
			return min(math.Round(f.now[unit]/f.full[unit]*gaugeSteps)/gaugeSteps, 1), true
		}
	}
	return f.shares / float64(f.told), true
}
