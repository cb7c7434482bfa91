package bags

import (
	"strings"

	"godwit/reproduce"
	"godwit/reproduce/policies"
	"godwit/sim"
)

// A Contender is what runs a bag.
type Contender struct {
	Name      string `json:"name"`
	Placement string `json:"policy"`    // as sim.Scenario has it
	Migration string `json:"migration"` // as migrate.Parse reads it
	Copies    string `json:"copies"`    // as migrate.CopierOf reads it
	Predictor string `json:"predictor"` // of all forecasts; "" is the usual
	Auto      bool   `json:"auto_checkpoints"`
	Thrifty   bool   `json:"thrifty_checkpoints"` // as sim.Checkpoints has it
	Part      Part   `json:"part"`
}

// Part is what a contender is for.
type Part string

// The parts.
const (
	Ours     Part = "default"
	Bound    Part = "oracle"
	Rival    Part = "rival"
	Ablation Part = "ablation" // the default without a part
)

// The names of contenders that targets speak of.
const (
	DefaultName = "default"
	FCFSName    = "fcfs"
	FastestName = "fcfs to the fastest"
	OracleName  = "oracle"
)

// baseCopies is the rule of copies that everybody has.
const baseCopies = "slow"

// BaseRate is a predictor by which all hosts are alike: the forecast that knows nobody.
const BaseRate = "pooled"

// Contenders are the default with a placement and a migration policy, the same without
// a part of it, the rivals, and the oracle. Every rival makes automatic checkpoints by
// Young's rule and copies its last tasks. Of Zhang's four policies of migration there are
// none and PSPP: where hosts give no notice and lend all of their processor or nothing
// reactive and CBR move nothing.
func Contenders(placement, migration string) []Contender {
	ours := Contender{DefaultName, placement, migration, baseCopies, "", true, true, Ours}
	out := []Contender{ours, {OracleName, sim.OracleSoonest, "none", "none", "", true, false, Bound}}
	without := func(name string, change func(c *Contender)) {
		c := ours
		c.Name, c.Part = "default, "+name, Ablation
		change(&c)
		out = append(out, c)
	}
	without("forecasts of the base rate", func(c *Contender) { c.Predictor = BaseRate })
	without("no checkpoints", func(c *Contender) { c.Auto = false })
	without("no moves", func(c *Contender) { c.Migration = "none" })
	without("no exchanges", func(c *Contender) { c.Migration += noExchanges(c.Migration) })
	without("no copies", func(c *Contender) { c.Copies = "none" })
	without("checkpoints of the base rule", func(c *Contender) { c.Thrifty = false })
	without("tasks in turn", func(c *Contender) { c.Placement += inTurn(c.Placement) })
	out = append(out, Contender{"fcfs, the default's checkpoints", reproduce.FCFS, "none", baseCopies, "", true, true,
		Rival})
	out = append(out, Contender{FastestName, "fcfs", "none", baseCopies, "", true, false, Rival})
	for _, p := range policies.Rivals(true) {
		if p.Migration == "none" || p.Migration == "pspp" {
			out = append(out, Contender{p.String(), p.Placement, p.Migration, baseCopies, "", true, false, Rival})
		}
	}
	return out
}

// inTurn is what makes a placement policy take tasks in turn, "" if it has no other way.
func inTurn(placement string) string { return added(placement, "expected", "order", "turn") }

// noExchanges is what makes a migration policy move no task but for its own sake, "" if it
// has no other way.
func noExchanges(migration string) string { return added(migration, "cost", "exchange", "1e6") }

// added is what gives a policy, if it is that of a name, a parameter that it has not yet.
func added(policy, of, param, value string) string {
	name, params, has := strings.Cut(policy, ":")
	switch {
	case name != of || strings.Contains(params, param+"="):
		return ""
	case has:
		return "," + param + "=" + value
	}
	return ":" + param + "=" + value
}
