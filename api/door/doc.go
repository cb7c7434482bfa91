// Package door says who may come in: which requests to a node's TCP addresses are
// answered. A program shows the node's token. A browser has a session, which it gets
// for a one-time code or a password, and whose cookie no other site can use: the
// names by which the node is called, the methods and where a request comes from are
// held to short lists. It knows nothing of what is behind it.
package door
