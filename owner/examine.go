package owner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"godwit/owner/sensor"
	"godwit/task"
)

// The results of a check.
const (
	OK    = "ok"
	Blind = "blind" // a sensor sees nothing; others may
	Bad   = "bad"   // the owner's rules cannot be kept, or not as meant
)

// The areas of checks, in the order in which people are to read them.
const (
	AreaRules   = "rules"   // what the owner said, and whether it can be kept
	AreaSensors = "sensors" // what is seen of the machine and who uses it
	AreaSandbox = "sandbox" // what keeps tasks in
	AreaNetwork = "network" // how others reach the node, and whom it finds
	AreaMachine = "machine" // its disk, its clock and its program
)

// Areas are all of them, in that order.
func Areas() []string { return []string{AreaRules, AreaSensors, AreaSandbox, AreaNetwork, AreaMachine} }

// In returns findings as those of an area.
func In(area string, found ...Finding) []Finding {
	for i := range found {
		found[i].Area = area
	}
	return found
}

// A Finding is what one check of the machine came to.
type Finding struct {
	Area   string `json:"area"` // AreaRules, ...
	Check  string `json:"check"`
	Result string `json:"result"` // OK, Blind or Bad
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what a person can do; "" for nothing
}

// examineFor is how long the sensors may take to say what they see. All but a
// dead bus answer within milliseconds.
const examineFor = 3 * time.Second

// Examine looks at this machine without a node: the file of rules, and what
// each sensor sees.
func Examine(ctx context.Context, file string, sensors []sensor.Sensor) []Finding {
	if sensors == nil {
		sensors = sensor.System()
	}
	rules, err := Load(file)
	return findings(time.Now(), file, rules, err, glance(ctx, sensors), "")
}

// Examine says what the running node's sensors see. caged is what Cage.Text said.
func (m *Monitor) Examine(caged string) []Finding {
	rules, err := m.Rules()
	return findings(time.Now(), m.cfg.File, rules, err, m.Readings(), caged)
}

// glance runs sensors until each has said something of each kind.
func glance(ctx context.Context, sensors []sensor.Sensor) []sensor.Reading {
	ctx, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	want := 0
	for _, s := range sensors {
		want += len(s.Kinds())
	}
	var mu sync.Mutex
	seats := map[seat]sensor.Reading{}
	var group sync.WaitGroup
	for _, s := range sensors {
		group.Go(func() {
			s.Run(ctx, func(r sensor.Reading) {
				mu.Lock()
				defer mu.Unlock()
				seats[seat{r.Sensor, r.Kind}] = r
				if len(seats) == want {
					cancel()
				}
			})
		})
	}
	group.Wait()
	var out []sensor.Reading
	for _, s := range sensors {
		for _, k := range s.Kinds() {
			r, ok := seats[seat{s.Name(), k}]
			if !ok {
				r = sensor.Reading{Sensor: s.Name(), Kind: k, Blind: fmt.Sprintf("it said nothing in %v", examineFor),
					Fix: "see whether what it asks hangs"}
			}
			out = append(out, r)
		}
	}
	return out
}

func findings(now time.Time, file string, rules Rules, err error, readings []sensor.Reading, caged string) []Finding {
	kept := In(AreaRules, rulesFinding(file, err), inputFinding(rules, readings), capsFinding(caged))
	return append(kept, In(AreaSensors, sensed(now, rules, readings)...)...)
}

// sensed says what each sensor sees.
func sensed(now time.Time, rules Rules, readings []sensor.Reading) (out []Finding) {
	s := situation{now: now, readings: readings}
	whole := s.inputSeen().whole
	for _, r := range readings {
		f := Finding{Check: r.Sensor + ": " + r.Kind.String(), Result: OK, Text: describe(now, r)}
		n := len(out)
		if r.Blind != "" && n > 0 && out[n-1].Text == r.Blind && strings.HasPrefix(out[n-1].Check, r.Sensor+": ") {
			out[n-1].Check += ", " + r.Kind.String()
			continue
		}
		if r.Blind != "" {
			f.Result, f.Text, f.Fix = Blind, r.Blind, r.Fix
			if r.Kind == sensor.Input && whole {
				f.Fix = "" // another sensor sees all there is
			}
		} else if r.Kind == sensor.Power && r.On && !r.Gauged && rules.RunOnBatteries && rules.MinBatteryCharge > 0 {
			f.Result, f.Text = Bad, f.Text+"; their charge is not known, so "+ruleCharge+" cannot be kept"
			f.Fix = "`godwit config set run_on_batteries false` where the batteries must not be drained"
		}
		out = append(out, f)
	}
	return out
}

func rulesFinding(file string, err error) Finding {
	f := Finding{Check: "rules", Result: OK, Text: "the rules of " + file + " are in force"}
	if _, missing := os.Stat(file); missing != nil {
		f.Text = "the defaults are in force: there is no " + file
	}
	if file == "" {
		f.Text = "no file of rules: every hour and every core is lent"
	}
	if err != nil {
		f.Result, f.Text, f.Fix = Bad, err.Error(), "correct the file; until then the rules before it hold"
		if e := (*task.Error)(nil); errors.As(err, &e) && e.Hint != "" {
			f.Fix = e.Hint
		}
	}
	return f
}

// inputFinding says whether the owner's presence would be noticed at all.
func inputFinding(rules Rules, readings []sensor.Reading) Finding {
	s := situation{readings: readings}
	f := Finding{Check: "owner's presence", Result: OK}
	var by, coarse []string
	for _, r := range readings {
		switch {
		case r.Kind != sensor.Input || r.Blind != "":
		case r.Coarse:
			coarse = append(coarse, r.Sensor)
		default:
			by = append(by, r.Sensor)
		}
	}
	switch saw := s.inputSeen(); {
	case saw.whole:
		f.Text = "seen at once by " + strings.Join(by, ", ")
	case len(coarse) > 0:
		f.Text = "seen by " + strings.Join(append(by, coarse...), ", ") + "; of a desktop only as its own idle delay tells"
		f.Fix = "run godwit as the user of the desktop, or let it read /dev/input, to be sure within a second"
	case saw.any:
		f.Text = "seen on terminals only (" + strings.Join(by, ", ") + "), which is all on a machine without a desktop"
		f.Fix = "on a desktop, run godwit as its user or let it read /dev/input"
	case rules.RunIfUserActive:
		f.Result, f.Text = Blind, "not seen by any sensor, and not needed: run_if_user_active is true"
	default:
		f.Result, f.Text = Bad, "not seen by any sensor: nothing runs here, for the owner comes first"
		f.Fix = "do what one of the sensors below asks for, or `godwit config set run_if_user_active true` where nobody " +
			"sits at the machine"
	}
	return f
}

// describe says what a sensor sees, to a person.
func describe(now time.Time, r sensor.Reading) string {
	var what string
	switch r.Kind {
	case sensor.Input:
		switch {
		case r.Present:
			what = "somebody is there"
		case r.Touched.IsZero():
			what = "no input yet"
		default:
			what = "last input " + max(now.Sub(r.Touched), 0).Round(time.Second).String() + " ago"
		}
	case sensor.Load:
		what = fmt.Sprintf("others use %.0f%%", r.Value*100)
	case sensor.Pressure:
		what = fmt.Sprintf("something waited for memory %.0f%% of the time", r.Value*100)
	case sensor.Power:
		what = yes(r.On, "on batteries", "on mains")
		if r.Gauged {
			what += ", charged to " + wholePercent(r.Value)
		}
	case sensor.Screen:
		what = yes(r.On, "a program fills the screen or keeps it on", "no program fills the screen")
	case sensor.Network:
		what = yes(r.On, "metered", "not metered")
	case sensor.Going:
		what = yes(r.On, "the machine is going", "the machine stays")
	case sensor.Disk:
		what = "the node keeps " + task.FormatSize(int64(r.Value))
	case sensor.Wake:
		what = "watched"
	}
	if r.Detail != "" {
		what += " (" + r.Detail + ")"
	}
	return what
}

func yes(b bool, is, isNot string) string {
	if b {
		return is
	}
	return isNot
}

// capsFinding says how the caps on cores and memory are held. An empty text is
// a machine without a node, of which only the outlook can be told.
func capsFinding(caged string) Finding {
	f := Finding{Check: "caps on cores and memory", Result: OK, Text: caged}
	if caged == "" {
		c := planCage()
		f.Text = c.text()
	}
	if !strings.HasPrefix(f.Text, cagedText) {
		f.Fix = "for caps that the kernel holds, run the node as a systemd service: `godwit service install`"
	}
	return f
}
