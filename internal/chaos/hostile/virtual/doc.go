// Package virtual runs attacks against whole pools in virtual time. The nodes run the state machines of package
// member on the network of package sim/swarm, with signatures. The attackers are strangers without a state
// machine: they send whatever their keys can sign.
//
// Each attack runs in variations that a seed draws: pool size, cells, number of keys, timing and job. A run
// counts what the job's owner sees: results that are right, wrong, lost, or delivered twice.
package virtual
