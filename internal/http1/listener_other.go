//go:build !linux

package http1

import "net"

// Elsewhere a connection that moves during one Write of seconds is not told from one that does not.

func unread(*net.TCPConn) bool { return false }

func queuedBytes(*net.TCPConn) int { return 0 }

func ignoreAttempts(net.Listener) bool { return false }

func unaccepted(net.Listener) int { return 0 }
