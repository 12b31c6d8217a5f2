package config

import (
	"strings"
	"testing"
)

func TestRotationNeedsTheDatabaseAndUsableKeysOnly(t *testing.T) {
	c, err := LoadRotation([]string{"DATABASE_URL=postgres://u:canary-password@db/callgate", "ENCRYPTION_KEYS=k1:" + keyCanary})
	if err != nil || c.DatabaseURL == "" || c.EncryptionKeys == "" {
		t.Fatal(err)
	}
	_, err = LoadRotation([]string{"DATABASE_URL=mysql://u:canary-password@db/callgate", "ENCRYPTION_KEYS=k1:" + keyCanary + ",k1:" + keyCanary})
	if err == nil || strings.Count(err.Error(), "\n  - ") != 2 || strings.Contains(err.Error(), "canary-password") || strings.Contains(err.Error(), keyCanary) {
		t.Fatalf("%v", err)
	}
}

func TestRateLimitIsOffUnlessGivenAndNeverNegative(t *testing.T) {
	if c, err := Load(environ(good()), Console); err != nil || c.APIRateLimit != 0 {
		t.Fatalf("%d, %v", c.APIRateLimit, err)
	}
	if c, err := Load(environ(good(), "API_RATE_LIMIT", "600"), Console); err != nil || c.APIRateLimit != 600 {
		t.Fatalf("%d, %v", c.APIRateLimit, err)
	}
	for _, wrong := range []string{"-1", "many", "1000001"} {
		if _, err := Load(environ(good(), "API_RATE_LIMIT", wrong), Console); err == nil || !strings.Contains(err.Error(), "API_RATE_LIMIT") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
