package blocks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"godwit/task"

	chunker "github.com/ipfs/boxo/chunker"
	"github.com/ipfs/boxo/ipld/merkledag"
	"github.com/ipfs/boxo/ipld/unixfs/importer/balanced"
	"github.com/ipfs/boxo/ipld/unixfs/importer/helpers"
	unixfs "github.com/ipfs/boxo/ipld/unixfs/io"
	"github.com/ipfs/go-cid"
	ipld "github.com/ipfs/go-ipld-format"
	mh "github.com/multiformats/go-multihash"
)

// How a file becomes blocks. These are the values of `ipfs add
// --cid-version=1`, so that the same file has the same CID there and here.
const (
	chunkBytes   = 256 << 10
	linksPerNode = 174
)

// Import stores what r holds as a UnixFS file and returns its CID, which equals
// that of `ipfs add --cid-version=1`, and its size in bytes. The file is read
// once and not held in memory. After an error some blocks may have been stored.
func (b *Store) Import(ctx context.Context, r io.Reader) (task.CID, int64, error) {
	counted := &countReader{r: r}
	sink := &blockSink{ctx: ctx, blocks: b}
	c, err := layout(ctx, counted, sink)
	if err == nil {
		err = sink.flush()
	}
	if err != nil {
		return "", 0, fmt.Errorf("blocks: importing a file: %w", err)
	}
	return textOf(c), counted.n, nil
}

// ImportBytes is Import of bytes in memory, which it may keep.
func (b *Store) ImportBytes(ctx context.Context, data []byte) (task.CID, error) {
	if len(data) > chunkBytes {
		c, _, err := b.Import(ctx, bytes.NewReader(data))
		return c, err
	}
	c := cidOf(cid.Raw, data)
	return textOf(c), b.put(ctx, []block{{c, data}})
}

// CIDOfBytes returns the CID that Import would give, storing nothing.
func CIDOfBytes(data []byte) (task.CID, error) {
	if len(data) <= chunkBytes {
		return textOf(cidOf(cid.Raw, data)), nil
	}
	return CIDOf(context.Background(), bytes.NewReader(data))
}

// CIDOf is CIDOfBytes of what r holds, which is read once and not held in memory.
func CIDOf(ctx context.Context, r io.Reader) (task.CID, error) {
	c, err := layout(ctx, r, discard{})
	if err != nil {
		return "", fmt.Errorf("blocks: hashing a file: %w", err)
	}
	return textOf(c), nil
}

func layout(ctx context.Context, r io.Reader, sink ipld.DAGService) (cid.Cid, error) {
	params := helpers.DagBuilderParams{
		Dagserv:    sink,
		Maxlinks:   linksPerNode,
		RawLeaves:  true,
		CidBuilder: cid.V1Builder{Codec: cid.DagProtobuf, MhType: mh.SHA2_256},
	}
	builder, err := params.New(chunker.NewSizeSplitter(ctxReader{ctx, r}, chunkBytes))
	if err != nil {
		return cid.Undef, err
	}
	root, err := balanced.Layout(builder)
	if err != nil {
		return cid.Undef, err
	}
	return root.Cid(), nil
}

// A File is the content of a stored file. It reads blocks as it goes, with the
// context given to Open.
type File interface{ io.ReadSeekCloser }

// Open returns the content of a file stored here and its size in bytes, which the bound
// allows: before a byte is read all that is here of it is found to be as large as is said
// of it, and the reader never gives more. The error is ErrSize or wire.ErrTooLarge where
// it is not. A block that is missing is found only when it is read: see HasAll.
func (b *Store) Open(ctx context.Context, root task.CID, bound Bound) (File, int64, error) {
	c, err := parseCID(root)
	if err != nil {
		return nil, 0, err
	}
	size, err := b.measure(ctx, c, bound)
	if err != nil {
		return nil, 0, fmt.Errorf("blocks: opening %s: %w", root, err)
	}
	node, err := localNodes{blocks: b}.Get(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	r, err := unixfs.NewDagReader(ctx, node, localNodes{blocks: b})
	if err != nil {
		return nil, 0, fmt.Errorf("blocks: opening %s: %w", root, err)
	}
	return &boundedFile{ctx: ctx, r: r, size: size}, size, nil
}

// A boundedFile gives no more than was found to be in the file.
type boundedFile struct {
	ctx  context.Context // of Open: reading ends with it
	r    unixfs.DagReader
	size int64
	at   int64
}

// Read implements io.Reader.
func (f *boundedFile) Read(p []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := f.r.Read(p[:min(int64(len(p)), f.size-f.at)])
	f.at += int64(n)
	return n, err
}

// Seek implements io.Seeker.
func (f *boundedFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.r.Seek(offset, whence)
	if err == nil {
		f.at = at
	}
	return at, err
}

// Close implements io.Closer.
func (f *boundedFile) Close() error { return f.r.Close() }

// blockSink collects the nodes that the importer makes and stores them in
// batches.
type blockSink struct {
	discard
	ctx     context.Context
	blocks  *Store
	pending []block
	bytes   int
}

// Add implements ipld.NodeAdder.
func (s *blockSink) Add(_ context.Context, n ipld.Node) error {
	s.pending = append(s.pending, block{n.Cid(), n.RawData()})
	s.bytes += len(n.RawData())
	if s.bytes < putBytes {
		return nil
	}
	return s.flush()
}

func (s *blockSink) flush() error {
	if len(s.pending) == 0 {
		return nil
	}
	err := s.blocks.put(s.ctx, s.pending)
	s.pending, s.bytes = nil, 0
	return err
}

// discard is a DAG service that keeps nothing: the importer only adds.
type discard struct{ ipld.DAGService }

// Add implements ipld.NodeAdder.
func (discard) Add(context.Context, ipld.Node) error { return nil }

// localNodes gives boxo's file reader the blocks that are here.
type localNodes struct{ blocks *Store }

// Get implements ipld.NodeGetter.
func (l localNodes) Get(ctx context.Context, c cid.Cid) (ipld.Node, error) {
	if !acceptable(c) {
		return nil, fmt.Errorf("%w: %s", ErrBadCID, c)
	}
	data, err := l.blocks.get(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.Prefix().Codec == cid.DagProtobuf {
		node, err := merkledag.DecodeProtobuf(data)
		if err != nil {
			return nil, fmt.Errorf("blocks: reading %s: %w", c, err)
		}
		return node, node.SetCidBuilder(c.Prefix()) // else it would call itself by a version 0 CID
	}
	return merkledag.NewRawNodeWPrefix(data, c.Prefix())
}

// GetMany implements ipld.NodeGetter.
func (l localNodes) GetMany(ctx context.Context, cs []cid.Cid) <-chan *ipld.NodeOption {
	out := make(chan *ipld.NodeOption, len(cs))
	defer close(out)
	for _, c := range cs {
		n, err := l.Get(ctx, c)
		out <- &ipld.NodeOption{Node: n, Err: err}
	}
	return out
}

type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// ctxReader ends a long import with its context.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("reading: %w", err)
	}
	return n, err
}
