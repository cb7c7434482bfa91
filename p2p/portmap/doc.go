// Package portmap has the router that a machine is behind lead a port to it, by PCP (RFC 6887), NAT-PMP
// (RFC 6886) or UPnP (Internet Gateway Device), whichever the router speaks.
//
// Nobody but the router is believed: answers count that come from the address to which the machine sends
// all that is for elsewhere, and no page is fetched from any other. What it sends has limits before memory
// is taken for it, each step a deadline. A port is asked for by the number that the machine listens on, so
// that addresses that were passed on stay good, and for a while only: a router closes by itself what a
// program that crashed has left.
package portmap
