// Package report tells what came of simulated runs: tables, summaries over
// seeds with confidence intervals, and charts like those of Zhang's chapter 7.
package report
