package p2p

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"godwit/p2p/wire"

	pb "github.com/libp2p/go-libp2p-kad-dht/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	mh "github.com/multiformats/go-multihash"
	"google.golang.org/protobuf/proto"
)

const (
	// askTime is how long one server of the table may take to answer.
	askTime = 5 * time.Second
	// maxTableAnswer bounds an answer, in bytes: maxProviders with four addresses each take 60 kB.
	maxTableAnswer = 256 << 10
)

// multihash is the key as the table knows it: a SHA-256.
func (k Key) multihash() []byte {
	b, err := mh.Encode(k[:], mh.SHA2_256)
	if err != nil {
		panic(err) // the length is right
	}
	return b
}

// say sends a server of the table a message that has no answer.
func (t *table) say(ctx context.Context, to peer.ID, msg *pb.Message) error {
	s, end, err := t.speak(ctx, to, msg)
	if err != nil {
		return err
	}
	defer end()
	return s.CloseWrite()
}

// askProviders asks a server of the table who provides a key.
func (t *table) askProviders(ctx context.Context, of peer.ID, k Key) ([]peer.AddrInfo, error) {
	s, end, err := t.speak(ctx, of, pb.NewMessage(pb.Message_GET_PROVIDERS, k.multihash(), 0))
	if err != nil {
		return nil, err
	}
	defer end()
	b, err := wire.ReadFrame(bufio.NewReader(s), maxTableAnswer, asked(s))
	if err != nil {
		return nil, fmt.Errorf("p2p: asking %s who provides a key: %w", of, err)
	}
	said, err := readProviders(b)
	if err != nil {
		return nil, fmt.Errorf("p2p: asking %s who provides a key: %w", of, err)
	}
	var out []peer.AddrInfo
	for _, p := range said {
		if p.Addrs = t.dialled(p.Addrs); len(p.Addrs) > 0 {
			out = append(out, p)
		}
	}
	return out, nil
}

// readProviders reads an answer, of at most maxTableAnswer bytes: of a server that says more than
// it may the first maxProviders, and of each of those its first addresses.
func readProviders(b []byte) ([]peer.AddrInfo, error) {
	var answer pb.Message
	if err := proto.Unmarshal(b, &answer); err != nil {
		return nil, err
	}
	var out []peer.AddrInfo
	said := answer.GetProviderPeers()
	for _, p := range pb.PBPeersToPeerInfos(said[:min(len(said), maxProviders)]) {
		if _, err := peer.IDFromBytes([]byte(p.ID)); err == nil {
			out = append(out, peer.AddrInfo{ID: p.ID, Addrs: p.Addrs[:min(len(p.Addrs), maxProvidedAddrs)]})
		}
	}
	return out, nil
}

// writeProviders writes what readProviders reads.
func writeProviders(peers []peer.AddrInfo) ([]byte, error) {
	return proto.Marshal(&pb.Message{ProviderPeers: pb.RawPeerInfosToPBPeers(peers)})
}

// speak opens a stream to a server of the table and sends a message, for askTime at most.
func (t *table) speak(ctx context.Context, to peer.ID, msg *pb.Message) (network.Stream, func(), error) {
	b, err := proto.Marshal(msg)
	if err != nil {
		return nil, nil, fmt.Errorf("p2p: writing to the hash table: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	s, stop, err := t.openStream(ctx, to, ProtocolDHT)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	end := func() { stop(); s.Close(); cancel() }
	_ = s.SetDeadline(time.Now().Add(askTime))
	w := bufio.NewWriter(s)
	if err := wire.WriteFrame(w, b); err == nil {
		err = w.Flush()
	}
	if err != nil {
		s.Reset()
		end()
		return nil, nil, fmt.Errorf("p2p: writing to the hash table: %w", err)
	}
	return s, end, nil
}
