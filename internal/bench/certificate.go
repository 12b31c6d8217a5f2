package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The mock's certificate and its key, in the benchmark's directory.
const (
	certificateFile = "certificate.pem"
	keyFile         = "key.pem"
)

// writeCertificate makes a certificate of the loopback address and has every process that is started from
// here on trust it.
func writeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(dir, keyFile), "PRIVATE KEY", secret); err != nil {
		return err
	}
	if err := writePEM(filepath.Join(dir, certificateFile), "CERTIFICATE", certificate); err != nil {
		return err
	}
	return os.Setenv("SSL_CERT_FILE", filepath.Join(dir, certificateFile))
}

func writePEM(path, kind string, bytes []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600)
}

// serveSecurely is the mock over TLS.
func serveSecurely(address, dir string) error {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile))
	if err != nil {
		return err
	}
	listener, err := tls.Listen("tcp", address, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err != nil {
		return err
	}
	return serveUpstream(listener)
}
