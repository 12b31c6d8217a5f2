package config

import (
	"strings"
	"testing"
	"time"

	"callgate/internal/cluster"

	"callgate/internal/retention"
)

const (
	jwtCanary    = "canary-jwt-secret-0123456789abcdef"
	pepperCanary = "canary-pepper-0123456789abcdef-0123"
	keyCanary    = "Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5LWNhbmE="
)

func good() map[string]string {
	return map[string]string{
		"DATABASE_URL":      "postgres://u:canary-password@db:5432/callgate",
		"CLICKHOUSE_URL":    "clickhouse://u:canary-password@ch:9000/callgate",
		"REDIS_URL":         "redis://:canary-password@redis:6379/0",
		"PUBLIC_BASE_URL":   "https://callgate.example.com/",
		"SPOOL_DIR":         "/var/lib/callgate/spool",
		"JWT_SECRET":        jwtCanary,
		"ACCESS_KEY_PEPPER": pepperCanary,
		"ENCRYPTION_KEYS":   "k1:" + keyCanary,
		"ADMIN_EMAILS":      "root@example.com",
		"SMTP_URL":          "smtp://mail:25",
		"MAIL_FROM":         "callgate@example.com",
	}
}

func environ(vars map[string]string, changes ...string) []string {
	for i := 0; i < len(changes); i += 2 {
		vars[changes[i]] = changes[i+1]
	}
	var list []string
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	return list
}

func TestCompleteEnvironmentLoadsWithDefaults(t *testing.T) {
	c, err := Load(environ(good()), All)
	if err != nil {
		t.Fatal(err)
	}
	if c.PublicBaseURL != "https://callgate.example.com" || c.HeaderTimeout != 300*time.Second || c.MaxBodyBytes != 64<<20 {
		t.Fatalf("defaults are wrong: %q %v %d", c.PublicBaseURL, c.HeaderTimeout, c.MaxBodyBytes)
	}
}

// TestWhatHasNoGoodDefaultMustBeSet for the roles that need it, and what is set must be understood.
func TestWhatHasNoGoodDefaultMustBeSet(t *testing.T) {
	for _, test := range []struct {
		role        Role
		name, value string
		says        string // empty: it is taken
	}{
		{All, "SPOOL_DIR", "", "SPOOL_DIR must be set"}, {Gateway, "SPOOL_DIR", "", "SPOOL_DIR must be set"}, {Console, "SPOOL_DIR", "", ""},
		{All, "PUBLIC_BASE_URL", "", "PUBLIC_BASE_URL must be set"}, {Console, "PUBLIC_BASE_URL", "", "PUBLIC_BASE_URL must be set"}, {Gateway, "PUBLIC_BASE_URL", "", ""},
		{Console, "AUDIT_RETENTION_DAYS", "89", "AUDIT_RETENTION_DAYS must be a number of days from 90"}, {Console, "AUDIT_RETENTION_DAYS", "365", ""},
		{Console, "ALERT_RETENTION_DAYS", "1", "ALERT_RETENTION_DAYS must be a number of days from 2"}, {Console, "ALERT_RETENTION_DAYS", "2", ""},
		{Gateway, "LOG_LEVEL", "loud", "LOG_LEVEL must be debug, info, warn or error"}, {Gateway, "LOG_LEVEL", "debug", ""}, {Gateway, "LOG_LEVEL", "WARN", ""},
		{Gateway, "CALL_TIMEOUT", "soon", "CALL_TIMEOUT must be a duration such as 30s"}, {Gateway, "MAX_CONNS", "many", "MAX_CONNS must be a whole number"},
		{Gateway, "MAX_APPLICATION_SHARE", "half", "MAX_APPLICATION_SHARE must be a number"}, {Gateway, "PROXY_PROTOCOL", "perhaps", "PROXY_PROTOCOL must be true or false"},
	} {
		_, err := Load(environ(good(), test.name, test.value), test.role)
		if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s=%s of %s: %v, want %q", test.name, test.value, test.role, err, test.says)
		}
	}
}

func TestEveryFaultIsReportedAtOnceWithoutSecrets(t *testing.T) {
	_, err := Load(environ(good(),
		"DATABASE_URL", "mysql://u:canary-password@db/x",
		"JWT_SECRET", "canary-short",
		"ENCRYPTION_KEYS", "k1:Y2FuYXJ5",
		"CALL_TIMEOUT", "canary-forever",
		"MAX_BODY_BYTES", "0",
		"FAILOVER_BODY_BYTES", "0",
		"MAX_CONNS", "-1",
		"MAX_APPLICATION_SHARE", "1.5",
		"GATEWAY_CORS_ORIGINS", "https://app.example.com,https://app.example.com/",
		"DRAIN_DELAY", "-1s",
		"CLIENT_WRITE_TIMEOUT", "0s",
		"LISTEN", "8080",
	), All)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, name := range []string{"DATABASE_URL", "JWT_SECRET", "ENCRYPTION_KEYS", "CALL_TIMEOUT", "MAX_BODY_BYTES", "FAILOVER_BODY_BYTES", "LISTEN",
		"MAX_CONNS", "MAX_APPLICATION_SHARE", "GATEWAY_CORS_ORIGINS", "DRAIN_DELAY", "CLIENT_WRITE_TIMEOUT"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in:\n%v", name, err)
		}
	}
	if strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "Y2Fu") {
		t.Fatalf("a secret is printed:\n%v", err)
	}
}

func TestGatewayNeedsNoConsoleSecrets(t *testing.T) {
	vars := good()
	for _, name := range []string{"JWT_SECRET", "ADMIN_EMAILS", "SMTP_URL", "MAIL_FROM"} {
		delete(vars, name)
	}
	if _, err := Load(environ(vars), Gateway); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(environ(vars), Console); err == nil {
		t.Fatal("a console without them is accepted")
	}
}

func TestFormerJWTSecretsFollowTheOneThatSigns(t *testing.T) {
	c, err := Load(environ(good(), "JWT_SECRET", jwtCanary+",former-"+jwtCanary), Console)
	if err != nil || len(c.JWTSecrets) != 2 || c.JWTSecrets[0] != jwtCanary || c.JWTSecrets[1] != "former-"+jwtCanary {
		t.Fatalf("%d secrets, %v", len(c.JWTSecrets), err)
	}
	for _, secrets := range []string{"", ",", jwtCanary + ",", jwtCanary + ",canary-short"} {
		_, err := Load(environ(good(), "JWT_SECRET", secrets), Console)
		if err == nil || !strings.Contains(err.Error(), "JWT_SECRET") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", secrets, err)
		}
	}
}

func TestCompanyLoginIsConfiguredWholeAndOverHTTPS(t *testing.T) {
	tokens := []string{"JWT_JWKS_URL", "https://id.example.com/keys", "JWT_ISSUER", "https://id.example.com", "JWT_AUDIENCE", "callgate"}
	signIn := []string{"OIDC_ISSUER", "https://id.example.com", "OIDC_CLIENT_ID", "callgate", "OIDC_CLIENT_SECRET", "canary-client-secret"}
	c, err := Load(environ(good(), append(append([]string{"OIDC_SCOPES", "profile,groups"}, tokens...), signIn...)...), Console)
	if err != nil || c.OIDCName == "" || len(c.OIDCScopes) != 2 {
		t.Fatalf("%+v, %v", c.OIDCScopes, err)
	}
	for _, group := range [][]string{tokens, signIn} {
		for i := 0; i < len(group); i += 2 {
			_, err := Load(environ(good(), append(append([]string{}, group...), group[i], "")...), Console)
			if err == nil || !strings.Contains(err.Error(), group[i]) || strings.Contains(err.Error(), "canary") {
				t.Errorf("without %s: %v", group[i], err)
			}
		}
		for _, address := range []string{"http://id.example.com", "https://", "id.example.com", "https://u:canary@id.example.com", "ftp://127.0.0.1"} {
			_, err := Load(environ(good(), append(append([]string{}, group...), group[0], address)...), Console)
			if err == nil || !strings.Contains(err.Error(), group[0]) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s=%s: %v", group[0], address, err)
			}
		}
		if _, err := Load(environ(good(), append(append([]string{}, group...), group[0], "http://127.0.0.1:5556/dex")...), Console); err != nil {
			t.Errorf("%s on loopback: %v", group[0], err)
		}
	}
}

func TestUnknownRoleIsRefused(t *testing.T) {
	if _, err := Load(environ(good()), "proxy"); err == nil || !strings.Contains(err.Error(), "--role") {
		t.Fatalf("got %v", err)
	}
}

func TestTheSpoolIsBoundedAsTheOperatorSays(t *testing.T) {
	c, err := Load(environ(good(), "SPOOL_MAX_BYTES", "1073741824", "SPOOL_SEAL_AFTER", "2s"), Gateway)
	if err != nil || c.SpoolMaxBytes != 1<<30 || c.SpoolSealAfter != 2*time.Second {
		t.Errorf("%d bytes, %v, %v", c.SpoolMaxBytes, c.SpoolSealAfter, err)
	}
	c, err = Load(environ(good()), Gateway)
	if err != nil || c.SpoolMaxBytes != 0 || c.SpoolSealAfter != 500*time.Millisecond {
		t.Errorf("by default %d bytes, %v, %v", c.SpoolMaxBytes, c.SpoolSealAfter, err)
	}
	_, err = Load(environ(good(), "SPOOL_MAX_BYTES", "-1", "SPOOL_SEAL_AFTER", "0s"), Gateway)
	if err == nil || !strings.Contains(err.Error(), "SPOOL_MAX_BYTES") || !strings.Contains(err.Error(), "SPOOL_SEAL_AFTER") {
		t.Errorf("%v", err)
	}
}

func TestTheDataTeamsPasswordIsLongOrUnset(t *testing.T) {
	for password, accepted := range map[string]bool{"": true, "canary-too-short": true, "canary-tooshort": false} {
		c, err := LoadMigration(environ(good(), "CLICKHOUSE_READER_PASSWORD", password))
		if (err == nil) != accepted || accepted && c.ClickHouseReaderPassword != password {
			t.Errorf("%q: %v", password, err)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestSeveralHostsOfPostgreSQLNeedOneThatTakesWrites(t *testing.T) {
	const hosts = "postgres://u:canary-password@db1:5432,db2:5432/callgate"
	for url, works := range map[string]bool{
		hosts: false, hosts + "?target_session_attrs=any": false, hosts + "?target_session_attrs=standby": false,
		hosts + "?target_session_attrs=read-write": true, hosts + "?sslmode=verify-full&target_session_attrs=primary": true,
	} {
		_, err := Load(environ(good(), "DATABASE_URL", url), All)
		if (err == nil) != works {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "target_session_attrs=read-write") || strings.Contains(err.Error(), "canary")) {
			t.Errorf("it says %v", err)
		}
		if _, err := LoadRotation(environ(good(), "DATABASE_URL", url)); (err == nil) != works {
			t.Errorf("rotate-keys, %s: %v", url, err)
		}
	}
}

func TestWhomToBelieveAboutClientsIsSaidInFull(t *testing.T) {
	for _, changes := range [][]string{
		{"TRUSTED_PROXIES", "10.0.0.0/8,::1", "CLIENT_ADDRESS_HEADER", "X-Forwarded-For", "PROXY_PROTOCOL", "true"},
		{"CLIENT_ADDRESS_HEADER", "X-Real-IP"},
	} {
		if _, err := Load(environ(good(), changes...), Gateway); err != nil {
			t.Errorf("%v: %v", changes, err)
		}
	}
	for want, changes := range map[string][]string{
		"TRUSTED_PROXIES must list": {"TRUSTED_PROXIES", "front"},
		"CLIENT_ADDRESS_HEADER":     {"TRUSTED_PROXIES", "10.0.0.0/8", "CLIENT_ADDRESS_HEADER", "Forwarded"},
		"needs TRUSTED_PROXIES":     {"PROXY_PROTOCOL", "true"},
		"PROXY_PROTOCOL":            {"PROXY_PROTOCOL", "v2"},
	} {
		if _, err := Load(environ(good(), changes...), Gateway); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", changes, err)
		}
	}
}

// TestSeveralServersAreOneClickHouseOnlyAsACluster: each of several servers that know nothing of each other would
// get a part of the calls.
func TestSeveralServersAreOneClickHouseOnlyAsACluster(t *testing.T) {
	const two = "clickhouse://u:canary-password@ch1:9000,ch2:9000/callgate"
	for _, c := range []struct{ url, cluster, says string }{
		{two, "", "a part of the calls"},
		{"clickhouse://u:p@ch1:9000/callgate?alt_hosts=ch2:9000", "", "a part of the calls"},
		{"https://u:p@ch1:8443/callgate", "main", "clickhouse://"},
		{"clickhouse://u:p@ch1:9000", "main", "must name the database"},
		{two, "main", ""},
		{"clickhouse://u:p@ch1:9000/callgate", "main", ""},
	} {
		_, err := Load(environ(good(), "CLICKHOUSE_URL", c.url, "CLICKHOUSE_CLUSTER", c.cluster), All)
		stores, storesErr := LoadStores(environ(good(), "CLICKHOUSE_URL", c.url, "CLICKHOUSE_CLUSTER", c.cluster))
		if c.says == "" {
			_, name, parseErr := cluster.Parse(stores.ClickHouseURL)
			if err != nil || storesErr != nil || parseErr != nil || name != c.cluster {
				t.Errorf("%s of %q: %v, %v, %v, cluster %q", c.url, c.cluster, err, storesErr, parseErr, name)
			}
			continue
		}
		for _, err := range []error{err, storesErr} {
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s of %q: %v", c.url, c.cluster, err)
			}
		}
	}
}

func TestRetentionIsWithinBoundsAndInItself(t *testing.T) {
	for _, bad := range [][]string{
		{"STATISTICS_RETENTION_DAYS", "6"}, {"STATISTICS_RETENTION_DAYS", "3651"}, {"STATISTICS_RETENTION_DAYS", "a year"},
		{"CALL_RETENTION_DAYS", "6"}, {"CALL_RETENTION_DAYS", "400"}, {"CALL_RETENTION_DAYS", "-1"},
		{"FAILURE_RETENTION_DAYS", "0"}, {"FAILURE_RETENTION_DAYS", "21", "CALL_RETENTION_DAYS", "20"},
	} {
		for name, load := range map[string]func() error{
			"serve":   func() error { _, err := Load(environ(good(), bad...), All); return err },
			"migrate": func() error { _, err := LoadMigration(environ(good(), bad...)); return err },
		} {
			if err := load(); err == nil || !strings.Contains(err.Error(), bad[0]) {
				t.Errorf("%s takes %v: %v", name, bad, err)
			}
		}
	}
	c, err := Load(environ(good(), "STATISTICS_RETENTION_DAYS", "800"), All)
	if want := (retention.Days{Statistics: 800, Calls: 800, Failures: 30}); err != nil || c.Retention() != want {
		t.Errorf("%+v, %v", c.Retention(), err)
	}
}

func TestOriginsAreWrittenAsBrowsersSendThem(t *testing.T) {
	for origin, fine := range map[string]bool{
		"https://app.example.com": true, "http://localhost:3000": true, "http://[::1]:5173": true, "chrome-extension://abcdef": true, "*": true,
		"https://app.example.com/": false, "app.example.com": false, "https://App.example.com": false, "https://app.example.com:443": false,
		"http://app.example.com:80": false, "https://app.example.com:": false, "https://*.example.com": false, "null": false, "https://": false,
		"https://user@app.example.com": false,
	} {
		if isOrigin(origin) != (fine && origin != "*") {
			t.Errorf("%s is an origin: %v", origin, isOrigin(origin))
		}
		if _, err := Load(environ(good(), "GATEWAY_CORS_ORIGINS", origin), Gateway); (err == nil) != fine {
			t.Errorf("%s: %v", origin, err)
		}
	}
	c, err := Load(environ(good()), Gateway)
	if err != nil || len(c.GatewayCORSOrigins) != 0 {
		t.Errorf("without: %q, %v", c.GatewayCORSOrigins, err)
	}
}
