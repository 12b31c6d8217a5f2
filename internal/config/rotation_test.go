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

func TestRateLimitsAreOnUnlessSwitchedOffAndNeverNegative(t *testing.T) {
	if c, err := Load(environ(good()), Console); err != nil || c.APIRateLimit != 1200 || c.StrangerRateLimit != 1200 {
		t.Fatalf("%d, %d, %v", c.APIRateLimit, c.StrangerRateLimit, err)
	}
	if c, err := Load(environ(good(), "API_RATE_LIMIT", "600", "STRANGER_RATE_LIMIT", "0"), Console); err != nil || c.APIRateLimit != 600 || c.StrangerRateLimit != 0 {
		t.Fatalf("%d, %d, %v", c.APIRateLimit, c.StrangerRateLimit, err)
	}
	for _, name := range []string{"API_RATE_LIMIT", "STRANGER_RATE_LIMIT"} {
		for _, wrong := range []string{"-1", "many", "1000001"} {
			if _, err := Load(environ(good(), name, wrong), Console); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%s: %v", name, wrong, err)
			}
		}
	}
}

func TestSignInLimitsHaveDefaultsAndArePositive(t *testing.T) {
	c, err := Load(environ(good(), "SIGN_IN_CODES_PER_HOUR", "4"), Console)
	if err != nil || c.CodesPerHour != 4 || c.CodesPerEmailDay != 300 {
		t.Fatalf("%d, %d, %v", c.CodesPerHour, c.CodesPerEmailDay, err)
	}
	if _, err := Load(environ(good(), "SIGN_IN_WRONG_PER_EMAIL_DAY", "0"), Console); err == nil || !strings.Contains(err.Error(), "SIGN_IN_WRONG_PER_EMAIL_DAY") {
		t.Fatal(err)
	}
}
