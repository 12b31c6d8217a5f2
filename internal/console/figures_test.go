package console

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/openapi"
)

const figuresPath = "/api/admin/statistics/"

// TestAdministratorsFiguresAreTheSumOfWhatOwnersSee also where an application is deleted, whose rows are still there, and
// where calls are of one that nobody knows of.
func TestAdministratorsFiguresAreTheSumOfWhatOwnersSee(t *testing.T) {
	w := newWatcher(t)
	w.seed("gpt", "claude")
	ada, eve := w.developer("ada"), w.developer("eve")
	mine, theirs, gone := w.application(ada, "mine"), w.application(eve, "theirs"), w.application(eve, "gone")
	for i := range 9 {
		w.called(mine, "gpt", time.Duration(i+1)*time.Minute, 10*i, 200)
		w.called(theirs, []string{"gpt", "claude", ""}[i%3], time.Duration(i+1)*time.Minute, 500+i, []int{200, 502}[i%2])
		w.called(gone, "gpt", time.Duration(i+1)*time.Minute, 9_000, 429)
	}
	check := func(when string, calls, failures int64, applications int64) {
		t.Helper()
		overview := dataOf[openapi.FiguresOverview](t, w.admin.must(200, "GET", figuresPath+"overview", ""))
		var sum, failed int64
		for _, owner := range []*client{ada, eve} {
			own := dataOf[openapi.Overview](t, owner.must(200, "GET", "/api/statistics/applications/overview", ""))
			sum, failed = sum+own.Calls, failed+own.Failures
		}
		if overview.Calls != calls || overview.Failures != failures || overview.Calls != sum || overview.Failures != failed || overview.ApplicationCount != applications ||
			overview.Worst.Failures != failures || overview.Reasons.Failures != failures || overview.Hours.LastHour.Calls != calls || overview.Now.Failures != failures {
			t.Errorf("%s: %+v; the owners see %d calls and %d failures", when, overview, sum, failed)
		}
		sum, failed = 0, 0
		for _, line := range dataOf[openapi.CapabilityFiguresList](t, w.admin.must(200, "GET", figuresPath+"capabilities", "")).Items {
			sum, failed = sum+line.Calls, failed+line.Failures
		}
		if sum != calls || failed != failures {
			t.Errorf("%s: by capability %d calls and %d failures", when, sum, failed)
		}
	}
	check("at first", 27, 13, 3)
	eve.must(200, "DELETE", "/api/applications/"+gone, "")
	check("after an application is deleted", 18, 4, 2)
	w.called(uuid.NewString(), "gpt", time.Minute, 5, 502)
	check("with calls of nobody's", 18, 4, 2)

	now := dataOf[openapi.FiguresOverview](t, w.admin.must(200, "GET", figuresPath+"overview", "")).Now
	if hit := now.Items[0].TopApplications; len(hit) != 1 || hit[0].ID.String() != theirs || hit[0].Owner.Email != "eve@example.com" || hit[0].Failures != now.Items[0].Failures {
		t.Errorf("whom failures of now hit: %+v", hit)
	}
	for sort, first := range map[string]string{"failures": theirs, "failureRate": theirs, "tokens": theirs, "cost": theirs} { // the newest of equal ones
		list := dataOf[openapi.ApplicationFiguresPage](t, w.admin.must(200, "GET", figuresPath+"applications?sort="+sort, ""))
		if list.Items[0].ID.String() != first {
			t.Errorf("by %s: %+v", sort, list.Items)
		}
	}
	if refused := w.admin.must(400, "GET", figuresPath+"owners?sort=best", ""); !strings.Contains(refused.raw, "must be calls, failures, failureRate, tokens or cost") {
		t.Errorf("an unknown order: %s", refused.raw)
	}

	one := dataOf[openapi.CapabilityFigures](t, w.admin.must(200, "GET", figuresPath+"capabilities/gpt", ""))
	if one.Summary.Calls != 12 || *one.Summary.P99Ms > 600 || one.Applications.Total != 2 || len(one.Applications.Items) != 2 ||
		one.Applications.Items[0].ID.String() != theirs || one.Applications.Items[0].Owner.Email != "eve@example.com" || one.FirstByte.Calls != 0 ||
		len(one.Upstreams) != 1 || one.Upstreams[0].Calls != 12 || one.Upstreams[0].UpstreamID != nil {
		t.Errorf("%+v", one)
	}
	if refused := w.admin.must(404, "GET", figuresPath+"capabilities/unknown", ""); refused.body.Code != 40401 {
		t.Errorf("an unknown capability: %s", refused.raw)
	}
}
