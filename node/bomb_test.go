package node

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipfs/boxo/ipld/merkledag"
	"github.com/ipfs/boxo/ipld/unixfs"
	"github.com/ipfs/go-cid"
	ipld "github.com/ipfs/go-ipld-format"
	mh "github.com/multiformats/go-multihash"

	"godwit/task"
)

// keepBomb stores a few blocks that make 240 TB when they are read as a file, whose root
// says that they make said bytes; 0: what they make.
func (p *peer) keepBomb(said uint64) task.CID {
	t := p.s.t
	t.Helper()
	const links, chunk = 174, 256 << 10
	child, err := cid.Decode(string(p.keepBytes("bomb", chunk)))
	if err != nil {
		t.Fatal(err)
	}
	size := uint64(chunk)
	for level := range 4 {
		if level == 3 && said > 0 {
			size = said / links
		}
		fs := unixfs.NewFSNode(unixfs.TFile)
		for range links {
			fs.AddBlockSize(size)
		}
		data, err := fs.GetBytes()
		if err != nil {
			t.Fatal(err)
		}
		n := merkledag.NodeWithData(data)
		n.SetCidBuilder(cid.V1Builder{Codec: cid.DagProtobuf, MhType: mh.SHA2_256})
		for range links {
			if err := n.AddRawLink("", &ipld.Link{Cid: child}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Blocks().PutRecord(context.Background(), n.RawData()); err != nil { // blocks go by their bytes
			t.Fatal(err)
		}
		child, size = n.Cid(), size*links
	}
	return task.CID(child.String())
}

// A job whose files are a few blocks that make a file of any size is refused with the
// reason, and takes no more space of anybody than those blocks.
func TestBlockBombInAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwarm(t, 2)
		for i, p := range s.peers {
			if i > 0 {
				p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
			}
			p.start()
		}
		s.gather(s.peers...)
		leader := s.leading(s.peers[0])
		stranger := s.others(leader)[0]
		for _, said := range []uint64{0, 174, 1 << 20} {
			bomb := stranger.keepBomb(said)
			before := leader.Blocks().Size()
			for _, asInput := range []bool{false, true} {
				f, err := task.ParseFile("bomb.yaml", []byte("module: m.wasm\nwork: 1s\nfiles: [in]\n"))
				if err != nil {
					t.Fatal(err)
				}
				sub := Submission{File: f, Module: bomb, Inputs: map[string]task.FileRef{
					"in": {Name: "in", CID: stranger.keepBytes("input", 1<<12), Size: 1 << 12},
				}}
				if asInput {
					sub.Module = stranger.keepBytes("module", 1<<12)
					sub.Inputs["in"] = task.FileRef{Name: "in", CID: bomb, Size: int64(max(said, 1<<20))}
				}
				ctx, end := context.WithTimeout(t.Context(), time.Minute)
				_, err = stranger.Submit(ctx, sub)
				end()
				if err == nil || errors.Is(err, context.DeadlineExceeded) ||
					!slices.ContainsFunc([]string{"not what was said", "too large"}, func(w string) bool {
						return strings.Contains(err.Error(), w)
					}) {
					t.Errorf("a bomb that says %d, as an input %t: %v", said, asInput, err)
				}
			}
			if took := leader.Blocks().Size() - before; took > 512<<10 {
				t.Errorf("a bomb that says %d took %d bytes of the leader", said, took)
			}
		}
	})
}
