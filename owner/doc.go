// Package owner decides whether this machine may work for others, by its
// owner's rules and by what the sensors see, and why not.
//
// Rules are what the owner wants, read from a file that a person writes.
// Decider.Decide is a function of the time, the rules, the sensors' readings
// and the owner's word (Pause); it carries the rule and the sensor that decided.
// Monitor runs the sensors and the Decider: when the owner is back it calls
// Stop before it does anything else.
package owner
