package catalog

import (
	"slices"
	"strings"

	"callgate/internal/fault"
)

// maxAllowedPaths bounds a capability's list of paths: it is read at every call.
const maxAllowedPaths = 50

// allowableMethods are those that the gateway forwards.
var allowableMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"}

// checkAllowed notes what is wrong with the lists of what may be called, and brings them to the form
// they are kept in: no duplicates, methods in a fixed order.
func (s *Settings) checkAllowed(wrong fault.Fields) {
	switch {
	case s.AllowedMethods == nil:
	case len(*s.AllowedMethods) > len(allowableMethods):
		wrong.Add("allowedMethods", "must be at most %d", len(allowableMethods))
	default:
		for _, method := range *s.AllowedMethods {
			if !slices.Contains(allowableMethods, method) {
				wrong.Add("allowedMethods", "must be of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS and QUERY")
			}
		}
		kept := []string{}
		for _, method := range allowableMethods {
			if slices.Contains(*s.AllowedMethods, method) {
				kept = append(kept, method)
			}
		}
		*s.AllowedMethods = kept
	}
	if s.AllowedPaths == nil {
		return
	}
	if len(*s.AllowedPaths) > maxAllowedPaths {
		wrong.Add("allowedPaths", "must be at most %d", maxAllowedPaths)
		return
	}
	kept := []string{}
	for _, path := range *s.AllowedPaths {
		path = strings.TrimSpace(path)
		if path == "" {
			wrong.Add("allowedPaths", "must begin with /")
		}
		checkPath(wrong, "allowedPaths", path)
		if !slices.Contains(kept, path) {
			kept = append(kept, path)
		}
	}
	*s.AllowedPaths = kept
}
