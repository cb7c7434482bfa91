package door

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"
)

const (
	// certLife is how long a certificate is good that a node made itself: browsers refuse those of more than
	// 825 days, even where a person vouches for them.
	certLife = 820 * 24 * time.Hour
	// serialBits are those of its number, which is drawn.
	serialBits = 127
)

// Certificate returns the certificate of a node, made with its key where file has none, a damaged one, or
// one that is over at now. Nobody vouches for it: a person compares its fingerprint.
func Certificate(file string, names []string, ips []net.IP, now time.Time) (*tls.Certificate, error) {
	if c, err := tls.LoadX509KeyPair(file, file); err == nil && c.Leaf != nil && now.Before(c.Leaf.NotAfter) &&
		c.Leaf.CheckSignature(c.Leaf.SignatureAlgorithm, c.Leaf.RawTBSCertificate, c.Leaf.Signature) == nil {
		return &c, os.Chmod(file, 0o600)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, fmt.Errorf("numbering a certificate: %w", err)
	}
	t := x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "godwit"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(certLife), KeyUsage: x509.KeyUsageDigitalSignature, DNSNames: names, IPAddresses: ips,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &t, &t, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) { // with whatever mode it has
		return nil, fmt.Errorf("replacing the certificate: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("keeping the certificate: %w", err)
	}
	c, err := tls.X509KeyPair(text, text)
	return &c, err
}

// Fingerprint is the SHA-256 of a certificate as browsers show it: AB:CD:...
func Fingerprint(c *tls.Certificate) string {
	sum := sha256.Sum256(c.Certificate[0])
	var parts []string
	for _, b := range sum {
		parts = append(parts, fmt.Sprintf("%02X", b))
	}
	return strings.Join(parts, ":")
}
