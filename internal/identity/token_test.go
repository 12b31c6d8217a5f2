package identity

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/secret"
)

func (w *world) refused(audience Audience, token string, kind fault.Kind) {
	w.t.Helper()
	_, err := w.VerifyToken(w.t.Context(), audience, token)
	wantKind(w.t, err, kind)
}

func (w *world) accepted(audience Audience, token string) Principal {
	w.t.Helper()
	who, err := w.VerifyToken(w.t.Context(), audience, token)
	if err != nil {
		w.t.Fatal(err)
	}
	return who
}

func TestTokenSpeaksForItsUser(t *testing.T) {
	w := newWorld(t)
	first, second := w.signIn(Developer, developer), w.signIn(Developer, developer)
	if first.Principal.UserID != second.Principal.UserID || first.Principal.UserID == uuid.Nil {
		t.Fatalf("users %s and %s of one address", first.Principal.UserID, second.Principal.UserID)
	}
	if other := w.signIn(Developer, "other@example.com"); other.Principal.UserID == first.Principal.UserID {
		t.Fatal("two addresses share a user")
	}
	if who := w.accepted(Developer, first.Token.Value); who != first.Principal {
		t.Fatalf("token of %+v speaks for %+v", first.Principal, who)
	}
	root := w.signIn(Admin, admin)
	if who := w.accepted(Admin, root.Token.Value); who != root.Principal || who.UserID != uuid.Nil || who.Email != admin {
		t.Fatalf("administrator is %+v", who)
	}
}

func TestTokenCarriesTheContractsClaims(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Developer, developer)
	found := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(in.Token.Value, found); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"sub": in.Principal.UserID.String(), "aud": "callgate-console", "iss": "callgate-test", "email": developer,
		"sid": in.Principal.SessionID.String(), "iat": float64(w.clock().Unix()), "exp": float64(w.clock().Add(time.Hour).Unix()),
	} {
		if found[name] != want {
			t.Errorf("%s is %v, want %v", name, found[name], want)
		}
	}
	if len(found) != 7 {
		t.Errorf("claims %v", found)
	}
	if !in.Token.ExpiresAt.Equal(w.clock().Add(time.Hour)) {
		t.Errorf("expires at %v", in.Token.ExpiresAt)
	}
}

func TestForgedTokensAreRefused(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Developer, developer)
	good := func() jwt.MapClaims {
		return jwt.MapClaims{
			"sub": in.Principal.UserID.String(), "aud": string(Developer), "iss": "callgate-test", "email": developer,
			"sid": in.Principal.SessionID.String(), "iat": w.clock().Unix(), "exp": w.clock().Add(time.Hour).Unix(),
		}
	}
	signed := func(method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
		t.Helper()
		token, err := jwt.NewWithClaims(method, claims).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	key := w.config.JWTSecret
	with := func(name string, value any) string {
		claims := good()
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
		return signed(jwt.SigningMethodHS256, key, claims)
	}
	w.accepted(Developer, signed(jwt.SigningMethodHS256, key, good())) // the corpus starts from a good one

	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&private.PublicKey)})
	parts := strings.Split(in.Token.Value, ".")
	raw := base64.RawURLEncoding.EncodeToString
	for name, token := range map[string]string{
		"alg none":               signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good()),
		"alg None, no check":     raw([]byte(`{"alg":"None","typ":"JWT"}`)) + "." + parts[1] + ".",
		"alg absent":             raw([]byte(`{"typ":"JWT"}`)) + "." + parts[1] + "." + parts[2],
		"RS256":                  signed(jwt.SigningMethodRS256, private, good()),
		"HS256 by a public key":  signed(jwt.SigningMethodHS256, public, good()),
		"HS384":                  signed(jwt.SigningMethodHS384, key, good()),
		"HS512":                  signed(jwt.SigningMethodHS512, key, good()),
		"another secret":         signed(jwt.SigningMethodHS256, []byte("another secret, also of 32 bytes or more"), good()),
		"empty secret":           signed(jwt.SigningMethodHS256, []byte{}, good()),
		"aud absent":             with("aud", nil),
		"aud unknown":            with("aud", "callgate"),
		"aud of administrators":  with("aud", string(Admin)),
		"aud both":               with("aud", []string{string(Developer), string(Admin)}),
		"iss absent":             with("iss", nil),
		"iss unknown":            with("iss", "https://login.example.com"),
		"exp absent":             with("exp", nil),
		"exp now":                with("exp", w.clock().Unix()),
		"exp text":               with("exp", "2099-01-01"),
		"nbf ahead":              with("nbf", w.clock().Add(time.Minute).Unix()),
		"sid absent":             with("sid", nil),
		"sid unknown":            with("sid", uuid.NewString()),
		"sid malformed":          with("sid", "1 OR 1=1"),
		"sub absent":             with("sub", nil),
		"sub of somebody else":   with("sub", uuid.NewString()),
		"payload changed":        parts[0] + "." + parts[1][:8] + otherThan(parts[1][8]) + parts[1][9:] + "." + parts[2],
		"payload of another":     parts[0] + "." + strings.Split(with("sub", uuid.NewString()), ".")[1] + "." + parts[2],
		"signature changed":      parts[0] + "." + parts[1] + "." + otherThan(parts[2][0]) + parts[2][1:],
		"signature's spare bits": parts[0] + "." + parts[1] + "." + spareBits(parts[2]),
		"signature absent":       parts[0] + "." + parts[1] + ".",
		"signature cut":          in.Token.Value[:len(in.Token.Value)-2],
		"two parts":              parts[0] + "." + parts[1],
		"four parts":             in.Token.Value + ".e30",
		"padded":                 in.Token.Value + "=",
		"oversized":              with("pad", strings.Repeat("x", maxToken)),
		"not base64":             "a.b!.c",
		"dots":                   "..",
		"session token":          in.SessionToken,
		"access key":             secret.Pepper("0123456789abcdef0123456789abcdef").Mint(),
	} {
		for _, audience := range []Audience{Developer, Admin} {
			if _, err := w.VerifyToken(t.Context(), audience, token); fault.KindOf(err) != fault.BadCredential {
				t.Errorf("%s, for %s: %v", name, audience, err)
			}
		}
	}
	w.refused(Developer, "", fault.Unauthenticated)
}

// otherThan is another letter.
func otherThan(letter byte) string {
	if letter == 'A' {
		return "B"
	}
	return "A"
}

// spareBits changes the bits of the last digit that a lax decoder throws away: 43 digits hold two
// more than 32 bytes need.
func spareBits(encoded string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	end := len(encoded) - 1
	return encoded[:end] + string(digits[strings.IndexByte(digits, encoded[end])^1])
}

func TestTokenExpiresAfterItsHour(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Developer, developer)
	w.pass(time.Hour - time.Second)
	w.accepted(Developer, in.Token.Value)
	w.pass(time.Second)
	w.refused(Developer, in.Token.Value, fault.BadCredential)
	w.refused(Admin, in.Token.Value, fault.BadCredential)
}

func TestTokenNeverOutlivesItsSession(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Admin, admin)
	w.pass(12*time.Hour - 10*time.Minute)
	token, who, err := w.Renew(t.Context(), Admin, in.SessionToken)
	if err != nil {
		t.Fatal(err)
	}
	if who != in.Principal || !token.ExpiresAt.Equal(in.SessionExpires) {
		t.Fatalf("token of %+v until %v, session until %v", who, token.ExpiresAt, in.SessionExpires)
	}
	w.pass(10 * time.Minute)
	w.refused(Admin, token.Value, fault.BadCredential)
	_, _, err = w.Renew(t.Context(), Admin, in.SessionToken)
	wantKind(t, err, fault.BadCredential)
}

func TestDeveloperIsNoAdministratorAndTheOtherWayRound(t *testing.T) {
	w := newWorld(t)
	// The same address, listed in ADMIN_EMAILS, signed in at both doors.
	dev, root := w.signIn(Developer, admin), w.signIn(Admin, admin)
	w.refused(Admin, dev.Token.Value, fault.NotAdministrator)
	w.refused(Developer, root.Token.Value, fault.BadCredential)
	for _, swapped := range []struct {
		audience Audience
		token    string
	}{{Admin, dev.SessionToken}, {Developer, root.SessionToken}} {
		_, err := w.VerifySession(t.Context(), swapped.audience, swapped.token)
		wantKind(t, err, fault.BadCredential)
		_, _, err = w.Renew(t.Context(), swapped.audience, swapped.token)
		wantKind(t, err, fault.BadCredential)
		wantKind(t, w.LogOut(t.Context(), swapped.audience, swapped.token), fault.BadCredential)
	}
	w.accepted(Developer, dev.Token.Value)
	w.accepted(Admin, root.Token.Value)
}

func TestAdministratorTakenOffTheListIsRefusedAtOnce(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Admin, admin)
	after := w.node(func(c *Config) { c.AdminEmails = []string{"somebody@example.com"} })
	_, err := after.VerifyToken(t.Context(), Admin, in.Token.Value)
	wantKind(t, err, fault.NotAdministrator)
	_, err = after.VerifySession(t.Context(), Admin, in.SessionToken)
	wantKind(t, err, fault.NotAdministrator)
	_, _, err = after.Renew(t.Context(), Admin, in.SessionToken)
	wantKind(t, err, fault.NotAdministrator)
	if err := after.LogOut(t.Context(), Admin, in.SessionToken); err != nil {
		t.Fatalf("cannot even sign out: %v", err)
	}
}

func TestFaultyConfigurationIsRefusedAsAWholeWithoutShowingSecrets(t *testing.T) {
	_, err := New(Config{
		JWTSecret: []byte("short secret"), TokenTTL: -1, AdminEmails: []string{"no address"}, LoginEmailDomains: []string{"no domain"},
	}, nil, nil, nil)
	if err == nil || strings.Contains(err.Error(), "short secret") {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"shorter than 32", "at least a second", "no address", "no domain"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not reported in: %v", part, err)
		}
	}
}

func TestTokensOutliveARotationOfTheirSecretUntilItIsDropped(t *testing.T) {
	w := newWorld(t)
	before := w.signIn(Developer, developer)
	code := w.code(Developer, "other@example.com")
	next := []byte("the next secret, also of 32 bytes or more")
	rotated := w.node(func(c *Config) { c.JWTSecret, c.FormerJWTSecrets = next, [][]byte{w.config.JWTSecret} })
	if who, err := rotated.VerifyToken(t.Context(), Developer, before.Token.Value); err != nil || who != before.Principal {
		t.Fatalf("%+v, %v", who, err)
	}
	if _, err := rotated.LogIn(t.Context(), Developer, "other@example.com", code, Program(home), agent); err != nil {
		t.Fatalf("a code mailed before the rotation: %v", err)
	}
	fresh, _, err := rotated.Renew(t.Context(), Developer, before.SessionToken)
	if err != nil {
		t.Fatal(err)
	}
	w.refused(Developer, fresh.Value, fault.BadCredential) // the first node knows only the old secret
	dropped := w.node(func(c *Config) { c.JWTSecret = next })
	if _, err := dropped.VerifyToken(t.Context(), Developer, fresh.Value); err != nil {
		t.Fatal(err)
	}
	_, err = dropped.VerifyToken(t.Context(), Developer, before.Token.Value)
	wantKind(t, err, fault.BadCredential)
}

func TestTokenIsJudgedByTheKeyItNamesOnly(t *testing.T) {
	former := []byte("the former secret, of 32 bytes or more")
	w := newWorld(t, func(c *Config) { c.FormerJWTSecrets = [][]byte{former} })
	in := w.signIn(Developer, developer)
	claims := jwt.MapClaims{}
	token, _, err := jwt.NewParser().ParseUnverified(in.Token.Value, claims)
	if err != nil || token.Header["kid"] != keyID(w.config.JWTSecret) || keyID(former) == keyID(w.config.JWTSecret) {
		t.Fatalf("header %v, %v", token.Header, err)
	}
	signed := func(secret []byte, kid any) string {
		t.Helper()
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
		if token.Header["kid"] = kid; kid == nil {
			delete(token.Header, "kid")
		}
		value, err := token.SignedString(secret)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for _, secret := range [][]byte{w.config.JWTSecret, former} {
		w.accepted(Developer, signed(secret, keyID(secret)))
		w.accepted(Developer, signed(secret, nil)) // made before there were key ids
		for _, kid := range []any{"", "another", 7, []string{keyID(secret)}, keyID([]byte("another secret"))} {
			w.refused(Developer, signed(secret, kid), fault.BadCredential)
		}
	}
	w.refused(Developer, signed(former, keyID(w.config.JWTSecret)), fault.BadCredential)
	w.refused(Developer, signed([]byte("another secret, also of 32 bytes or more"), keyID(former)), fault.BadCredential)
}
