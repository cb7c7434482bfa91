// Package blocks keeps content in content-addressed blocks, named by [task.CID]: it
// imports files (file.go) and trees (tree.go), reads them, collects what nobody needs
// (collect.go), and fetches what is missing from several nodes at once (fetch.go),
// which answer it (serve.go). docs/protocol.md tells the bytes of a transfer.
//
// The blocks lie in any datastore, in a node's that of blocks/disk. Other nodes are
// reached through a [Network]; without one a [Store] works and fetches nothing.
package blocks
