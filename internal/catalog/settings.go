package catalog

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"callgate/internal/fault"
	"callgate/internal/upstream"
)

// Bounds of the catalog's texts, in characters.
const (
	maxName        = 64
	maxDescription = 1024
	maxModel       = 256
	maxPath        = 512
	maxUpstreamKey = 4096
)

// Settings are the fields of a capability that an administrator sets; a nil one stays as it is. On
// creation ID, Name and GroupID are required, and UpstreamBaseURL and UpstreamKey unless Upstreams are named;
// the others have defaults: no texts, sort order 0, enabled, style bearer.
type Settings struct {
	ID              *string
	Name            *string
	AllowedMethods  *[]string
	AllowedPaths    *[]string
	DefaultPath     *string
	Description     *string
	GroupID         *string
	SortOrder       *int64
	Status          *string
	UpstreamAuth    *string
	UpstreamBaseURL *string
	UpstreamKey     *string // "" keeps the stored one
	UpstreamModel   *string
	Upstreams       *[]Member // all of them; what it does not name is removed

	endRunning bool // the capability is disabled, and its calls with it
}

// check notes what is wrong with the fields that are set, and brings them to the form they are kept in.
func (s *Settings) check(allowPrivate bool) fault.Fields {
	wrong := fault.Fields{}
	for _, text := range []*string{s.Name, s.UpstreamBaseURL, s.UpstreamModel, s.DefaultPath} {
		trim(text)
	}
	checkName(wrong, s.Name)
	checkText(wrong, "description", s.Description, 0, maxDescription)
	checkText(wrong, "upstreamModel", s.UpstreamModel, 0, maxModel)
	checkSortOrder(wrong, s.SortOrder)
	if s.GroupID != nil {
		checkIdentifier(wrong, "groupId", *s.GroupID)
	}
	if s.Status != nil && *s.Status != Enabled && *s.Status != Disabled {
		wrong.Add("status", "must be enabled or disabled")
	}
	if s.UpstreamAuth != nil && !validAuth(*s.UpstreamAuth) {
		wrong.Add("upstreamAuth", "must be bearer, x-api-key, api-key or x-goog-api-key")
	}
	if s.UpstreamBaseURL != nil && *s.UpstreamBaseURL != "" { // "": none of its own
		checkBaseURL(wrong, "upstreamBaseUrl", s.UpstreamBaseURL, allowPrivate)
	}
	if s.UpstreamKey != nil {
		checkUpstreamKey(wrong, "upstreamKey", *s.UpstreamKey)
	}
	if s.DefaultPath != nil {
		checkPath(wrong, "defaultPath", *s.DefaultPath)
	}
	s.checkAllowed(wrong)
	s.checkMembers(wrong)
	return wrong
}

// checkRequired notes what a new capability lacks.
func (s *Settings) checkRequired(wrong fault.Fields) {
	required := map[string]*string{"id": s.ID, "name": s.Name, "groupId": s.GroupID}
	if own := s.UpstreamBaseURL != nil && *s.UpstreamBaseURL != ""; own || s.Upstreams == nil || len(*s.Upstreams) == 0 {
		required["upstreamBaseUrl"], required["upstreamKey"] = s.UpstreamBaseURL, s.UpstreamKey
	}
	for field, value := range required {
		if value == nil || *value == "" {
			wrong.Add(field, "is required")
		}
	}
	if s.ID != nil {
		checkIdentifier(wrong, "id", *s.ID)
	}
}

// apply sets the fields of d that are given.
func (s *Settings) apply(d *Details) {
	set(&d.Name, s.Name)
	set(&d.GroupID, s.GroupID)
	set(&d.Description, s.Description)
	set(&d.Status, s.Status)
	set(&d.UpstreamBaseURL, s.UpstreamBaseURL)
	set(&d.UpstreamAuth, s.UpstreamAuth)
	set(&d.UpstreamModel, s.UpstreamModel)
	set(&d.DefaultPath, s.DefaultPath)
	set(&d.AllowedMethods, s.AllowedMethods)
	set(&d.AllowedPaths, s.AllowedPaths)
	set(&d.SortOrder, s.SortOrder)
	set(&d.Upstreams, s.Upstreams)
}

// newKey tells whether an upstream key is given that is to replace the stored one.
func (s *Settings) newKey() bool { return s.UpstreamKey != nil && *s.UpstreamKey != "" }

func checkName(wrong fault.Fields, value *string) {
	if value != nil {
		wrong.Name("name", *value, 1, maxName)
	}
}

func checkText(wrong fault.Fields, field string, value *string, least, most int) {
	if value != nil {
		wrong.Text(field, *value, least, most)
	}
}

func checkSortOrder(wrong fault.Fields, value *int64) {
	if value != nil && (*value < math.MinInt32 || *value > math.MaxInt32) {
		wrong.Add("sortOrder", "must be an integer from %d to %d", math.MinInt32, math.MaxInt32)
	}
}

func checkIdentifier(wrong fault.Fields, field, value string) {
	if !identifier.MatchString(value) {
		wrong.Add(field, "must have 1 to 64 letters, digits or . _ : - and begin with a letter or digit")
	}
}

func checkImmutable(wrong fault.Fields, given *string, id string) {
	if given != nil && *given != id {
		wrong.Add("id", "cannot be changed")
	}
}

// authStyles are how a key is sent to its upstream.
var authStyles = []string{"bearer", "x-api-key", "api-key", "x-goog-api-key"}

func validAuth(style string) bool {
	return slices.Contains(authStyles, style)
}

func checkBaseURL(wrong fault.Fields, field string, text *string, allowPrivate bool) {
	u, err := upstream.ParseBaseURL(*text, allowPrivate)
	if err != nil {
		wrong.Add(field, "%s", err)
		return
	}
	*text = u.String()
}

// checkKept demands a key where none is stored that could be kept.
func checkKept(before, after Details, newKey bool) error {
	if newKey || after.UpstreamBaseURL == "" || before.HasUpstreamKey {
		return nil
	}
	return fault.InvalidFields(map[string]string{"upstreamKey": "is required: there is no stored one"})
}

// keyMoves tells whether a stored key that is kept will be sent to another scheme, host or port than before.
func keyMoves(before, after Details, newKey bool) bool {
	return !newKey && before.UpstreamBaseURL != "" && after.UpstreamBaseURL != "" &&
		before.UpstreamBaseURL != after.UpstreamBaseURL && // of which one may be none that is taken today
		!upstream.SameOrigin(before.UpstreamBaseURL, after.UpstreamBaseURL)
}

// checkUpstreamKey lets only characters pass that every header and every log scanner agree on: a
// line break in a key would forge a header.
func checkUpstreamKey(wrong fault.Fields, field, key string) {
	if len(key) > maxUpstreamKey {
		wrong.Add(field, "must have at most %d characters", maxUpstreamKey)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		wrong.Add(field, "must be visible ASCII characters without spaces")
	}
}

// checkPath demands what the gateway would forward: a path below the base URL, nothing that leaves it.
func checkPath(wrong fault.Fields, field, path string) {
	if path == "" {
		return
	}
	wrong.Text(field, path, 0, maxPath)
	if !strings.HasPrefix(path, "/") {
		wrong.Add(field, "must begin with /")
	}
	if strings.ContainsAny(path, `?#\`) || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		wrong.Add(field, "must be visible ASCII characters without spaces, ?, # and backslashes")
	}
	plain, err := url.PathUnescape(path)
	if err != nil {
		wrong.Add(field, "has a %% that is not followed by two hexadecimal digits")
	}
	for segment := range strings.SplitSeq(plain, "/") {
		if segment == "." || segment == ".." || strings.Contains(segment, `\`) {
			wrong.Add(field, "must not contain a dot segment or a backslash")
		}
	}
}
