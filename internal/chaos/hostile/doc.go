// Package hostile attacks real nodes and reports what came of it. A stranger speaks the
// project's own protocols (package p2p) and says what no node would say: as a peer without
// an advert, as a member of an open pool, as an insider with an invitation, as a worker with
// a lease, or as a leader that lies. What is attacked is two nodes of the unchanged program,
// seen from outside: by their processes, their files, their verbs and their API.
//
// An attack is a file's worth of sentences to say ([attack]); what the nodes look like while
// it goes on is measured in one place ([gauge]), and what must hold whatever is tried is
// judged in one place ([field.hold]). Nothing here is linked into the program.
package hostile
