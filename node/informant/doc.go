// Package informant chooses the member that a node queries next for proofs of wrong results.
//
// A trust report that refuses a worker is a hint that its author may have such a proof. A report costs its author
// nothing, so a hint decides at most every second query; the others go to a member at random. A member whose hints or
// statements are useless is ignored for a week.
package informant
