// Package secret seals the keys the service must be able to read again (AES-256-GCM with key ids,
// so that keys can be rotated) and mints and hashes Access Keys and management tokens. Both are looked up by an
// HMAC under a pepper independent of the sealing keys: a leaked database reveals neither.
package secret
