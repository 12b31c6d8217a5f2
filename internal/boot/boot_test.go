package boot

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestRedisURLChoosesTheKindOfClient(t *testing.T) {
	for url, kind := range map[string]redis.UniversalClient{
		"redis://:secret@127.0.0.1:6379/3":                                   &redis.Client{},
		"rediss://:secret@redis.example.com:6380":                            &redis.Client{},
		"redis+sentinel://127.0.0.1:26379/0?master_name=main":                &redis.Client{},
		"rediss+sentinel://redis.example.com:26379/0?master_name=main":       &redis.Client{},
		"rediss+cluster://redis.example.com:7000":                            &redis.ClusterClient{},
		"redis+cluster://127.0.0.1:7000?addr=127.0.0.1:7001&dial_timeout=1s": &redis.ClusterClient{},
	} {
		client, err := openRedis(url, nil)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got, want := fmt.Sprintf("%T", client), fmt.Sprintf("%T", kind); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
		_ = client.Close()
	}
}

func TestBadRedisURLsAreRefusedWithoutTheirPassword(t *testing.T) {
	for _, url := range []string{
		"redis://:canary@127.0.0.1:6379/notanumber", "redis+sentinel://:canary@127.0.0.1:26379/x",
		"redis+cluster://:canary@127.0.0.1:7000?dial_timeout=soon",
	} {
		client, err := openRedis(url, nil)
		if err == nil {
			_ = client.Close()
			t.Errorf("%s is accepted", url)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("the password is shown: %v", err)
		}
	}
}

func TestDevSecretsAreMadeOnceAndKeptPrivate(t *testing.T) {
	dir := t.TempDir()
	made, err := devSecrets(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 3 || made["JWT_SECRET"] == made["ACCESS_KEY_PEPPER"] || len(made["JWT_SECRET"]) < 32 {
		t.Fatalf("secrets of %d names are too alike or too short", len(made))
	}
	again, err := devSecrets(dir)
	if err != nil || !maps.Equal(made, again) {
		t.Fatalf("another start has other secrets: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, "secrets.env"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("secrets.env: %v, %v", info.Mode(), err)
	}
}

func TestDatabaseURLFaultsHideThePassword(t *testing.T) {
	_, err := openPostgres(t.Context(), "postgres://user:canary@host:notaport/db", nil)
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Fatalf("got %v", err)
	}
}
