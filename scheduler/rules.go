package scheduler

import (
	"cmp"
	"fmt"
	"time"

	"godwit/migrate"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// Rules are what an overlay's founder decides of its scheduling. The zero value
// is the usual.
type Rules struct {
	// Placement is a policy with its parameters, as place.Parse reads it; "" is
	// the configuration's.
	Placement string
	// Migration is a policy with its parameters, as migrate.Parse reads it; "" is
	// the configuration's.
	Migration string
	// Predictor is what gives the policies their forecasts, as predictor.Parse reads it; "" is the configuration's. Where it
	// is TDE without parameters, each policy has the TDE that it was published with.
	Predictor string
	// Fairness and Chunking are the policies of shares and of chunks, as share.Parse
	// and chunk.Parse read them; "" is the usual. Placement policies that go by classes
	// of tasks choose whose turn it is, too, where no Fairness is named.
	Fairness, Chunking string
	// Replicas is the least number of runs that must agree, whatever a job asks
	// for; 0 and 1 leave it to the job.
	Replicas int
	// Verify is how submitters have to check results at least; nil leaves it to the job.
	Verify *task.Verify

	// SlotsEach is the most slots that the jobs of one submitter may have at a time; 0 is no limit.
	SlotsEach int

	// Open says that anybody may be a member, under any number of keys. Whatever the
	// policy, slots are divided among submitters then, and jobs' priorities are void,
	// unless Priorities has them count.
	Open, Priorities bool
}

// Govern has the coordinator follow rules from now on. With a policy that is not
// known here it goes on with the ones it has, and returns an error. A policy that
// stays the same keeps what it has learnt.
func (c *Coordinator) Govern(r Rules) error {
	c.cfg.Rules.Replicas, c.cfg.Rules.Verify = r.Replicas, r.Verify
	cfg := c.cfg
	cfg.Rules = r
	policy, err := cfg.policy()
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	mover, err := cfg.mover()
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	was := c.cfg.Rules
	c.cfg.Rules = r
	if r.Placement != was.Placement || r.Predictor != was.Predictor {
		c.dispatch.goBy(policy)
	}
	if r.Migration != was.Migration || r.Predictor != was.Predictor {
		c.migration.mover, c.migration.scanAt, c.migration.noticed = mover, time.Time{}, mover != nil && mover.Period() <= 0
	}
	c.foretell()
	if r.Open != was.Open || r.Priorities != was.Priorities {
		c.claims.rankAll()
	}
	if r.Fairness != was.Fairness || r.Open != was.Open {
		c.claims.shareAnew()
	}
	if r.Open != was.Open {
		c.members.heedAll()
	}
	if r.SlotsEach != was.SlotsEach {
		c.timers.Set(c.now, reminder{ask: true})
	}
	if r.Chunking != was.Chunking {
		for _, j := range c.table.jobs {
			c.chunks.endChunks(j)
		}
	}
	c.claims.queueByClass()
	return nil
}

// check says what is wrong with the policies that no configuration names.
func (r *Rules) check() error {
	if _, err := share.Parse(r.Fairness); err != nil {
		return err
	}
	return chunk.Check(r.Chunking)
}

// policy makes the policy that the rules name, or else the configuration.
func (c *Config) policy() (place.Policy, error) {
	if c.Rules.Placement != "" {
		return place.ParseWith(c.predictor(), c.Rules.Placement)
	}
	return place.NewWith(c.predictor(), c.Placement, c.PlacementParams)
}

// predictor is what gives the forecasts; "" for what each policy was published with.
func (c *Config) predictor() string { return cmp.Or(c.Rules.Predictor, c.Predictor) }

// Moves reports whether a policy moves tasks.
func (c *Config) Moves() bool {
	p, err := c.mover()
	return err == nil && p != nil
}

// mover makes the policy of migration that the rules name, or else the
// configuration; nil if nothing is to move.
func (c *Config) mover() (migrate.Policy, error) {
	spec := cmp.Or(c.Rules.Migration, c.Migration)
	if spec == "" {
		return nil, nil
	}
	p, err := migrate.ParseWith(c.predictor(), spec)
	if _, none := p.(migrate.None); none || err != nil {
		return nil, err
	}
	return p, nil
}

// A Forecaster gives the forecasts of any predictor.
type Forecaster interface {
	// By returns the forecasts of a predictor, as predictor.Parse reads it; "" is the default. It never returns nil.
	By(predictor string) place.Forecast
}

// Foresee gives the policies forecasts; without, none is known of any member. They are asked during Step only.
func (c *Coordinator) Foresee(f Forecaster) {
	c.dispatch.forecaster = f
	c.foretell()
}

// foretell gives each policy the forecasts of its predictor.
func (c *Coordinator) foretell() {
	f, rules := c.dispatch.forecaster, c.cfg.predictor()
	if f == nil {
		return
	}
	placing, moving := predictor.Choose(rules, c.dispatch.traits.Predictor), rules
	if of, is := c.migration.mover.(migrate.Foreteller); is {
		moving = predictor.Choose(rules, of.Predictor())
	}
	c.dispatch.forecast = f.By(placing)
	c.migration.forecast = foretold{c}
	if moving != placing {
		c.migration.forecast = f.By(moving)
	}
}

// lessThan says why a job may not ask for so few agreeing runs, or for so few to be run again, or "".
func (r *Rules) lessThan(spec *task.Job) string {
	switch {
	case spec.Replicas < r.Replicas:
		return fmt.Sprintf("the overlay wants at least %d runs of each task that agree, the job asks for %d", r.Replicas,
			spec.Replicas)
	case spec.Verify.Less(r.Verify):
		return fmt.Sprintf("the overlay wants results checked with verify: %v at least, the job with %v", r.Verify,
			spec.Verify)
	}
	return ""
}
