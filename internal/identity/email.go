package identity

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"callgate/internal/fault"
)

const (
	maxEmail = 254 // characters, the limit of a mail path (RFC 5321)
	maxLocal = 64  // characters before the @
)

const domainName = `[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*`

// One plain address in ASCII: no display name, quotes, comments or line ends, so that it is safe in
// a mail header and equal addresses are equal texts.
var (
	addressForm = regexp.MustCompile(`^[a-z0-9!#$%&'*+/=?^_{|}~` + "`" + `-]+(?:\.[a-z0-9!#$%&'*+/=?^_{|}~` + "`" + `-]+)*@` + domainName + `$`)
	domainForm  = regexp.MustCompile(`^` + domainName + `$`)
)

func canonicalEmail(email string) (string, bool) {
	email = strings.ToLower(strings.TrimSpace(email))
	local, _, _ := strings.Cut(email, "@")
	ok := len(email) <= maxEmail && len(local) <= maxLocal && addressForm.MatchString(email)
	return email, ok
}

// requestedEmail is canonicalEmail for what a caller sent.
func requestedEmail(email string) (string, error) {
	email, ok := canonicalEmail(email)
	if !ok {
		return "", fault.InvalidFields(map[string]string{"email": "must be an e-mail address of at most 254 characters"})
	}
	return email, nil
}

// mayLogIn tells whether the address may sign in. The answer must never show in what a caller sees
// before a code has been proven.
func (s *Service) mayLogIn(audience Audience, email string) bool {
	if audience == Admin {
		_, listed := s.admins[email]
		return listed
	}
	if len(s.domains) == 0 {
		return true
	}
	_, allowed := s.domains[email[strings.LastIndexByte(email, '@')+1:]]
	return allowed
}

func addressSet(emails []string) (map[string]struct{}, error) {
	set := map[string]struct{}{}
	var faults []error
	for _, given := range emails {
		email, ok := canonicalEmail(given)
		if !ok {
			faults = append(faults, fmt.Errorf("administrator %q is not an e-mail address", given))
		}
		set[email] = struct{}{}
	}
	return set, errors.Join(faults...)
}

func domainSet(domains []string) (map[string]struct{}, error) {
	set := map[string]struct{}{}
	var faults []error
	for _, given := range domains {
		domain := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(given)), "@")
		if !domainForm.MatchString(domain) {
			faults = append(faults, fmt.Errorf("login domain %q is not a domain name", given))
		}
		set[domain] = struct{}{}
	}
	return set, errors.Join(faults...)
}
