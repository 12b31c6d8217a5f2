package checks

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// troubles are, for each alert, series of ten minutes and more in which it must fire, and such as are no reason to.
// A value stands for each minute.
var troubles = map[string]struct{ bad, good []string }{
	"CallgateNoGateway": {
		bad:  []string{`callgate_build_info{role="console"} 1x30`},
		good: []string{`callgate_build_info{role="gateway"} 1x30`},
	},
	"CallgateNoConsole": {
		bad:  []string{`callgate_build_info{role="gateway"} 1x30`},
		good: []string{`callgate_build_info{role="all"} 1x30`},
	},
	"CallgateProcessDown": {
		bad:  []string{`up{job="callgate",instance="a"} 1x5 0x25`},
		good: []string{`up{job="callgate",instance="a"} 1x5 0 1x25`, `up{job="other",instance="b"} 0x30`},
	},
	"CallgateStoreAway": {
		bad:  []string{`callgate_store_up{store="redis"} 1x5 0x25`},
		good: []string{`callgate_store_up{store="redis"} 1x5 0 1x25`},
	},
	"CallgateRedisBreakerOpen": {
		bad:  []string{`callgate_access_redis_breaker_open 0x5 1x25`},
		good: []string{`callgate_access_redis_breaker_open 0x5 1 0x25`},
	},
	"CallgateSpoolOld": {
		bad:  []string{`callgate_spool_oldest_unshipped_seconds 1x5 60+60x25`},
		good: []string{`callgate_spool_oldest_unshipped_seconds 1x5 90 1x25`},
	},
	"CallgateBatchesRefused": {
		bad:  []string{`callgate_spool_batches_refused_total 0x5 1+1x25`},
		good: []string{`callgate_spool_batches_refused_total 0x5 1x25`},
	},
	"CallgateRecordsDropped": {
		bad:  []string{`callgate_spool_records_dropped_total 0x15 7x15`},
		good: []string{`callgate_spool_records_dropped_total 7x30`},
	},
	"CallgateDetailsDropped": {
		bad:  []string{`callgate_spool_details_dropped_total 0x5 7+7x25`},
		good: []string{`callgate_spool_details_dropped_total 7x30`},
	},
	"CallgateRecordsDamaged": {
		bad:  []string{`callgate_spool_records_damaged_total 0x15 1x15`, `callgate_spool_records_quarantined_total 0x30`},
		good: []string{`callgate_spool_records_damaged_total 1x30`, `callgate_spool_records_quarantined_total 2x30`},
	},
	"CallgateSpoolWriteErrors": {
		bad:  []string{`callgate_spool_write_errors_total 0x5 1+1x25`},
		good: []string{`callgate_spool_write_errors_total 9x30`},
	},
	"CallgateSpoolDiskLow": {
		bad:  []string{`callgate_spool_disk_free_bytes 100-5x30`, `callgate_spool_disk_bytes 100x30`},
		good: []string{`callgate_spool_disk_free_bytes 20x30`, `callgate_spool_disk_bytes 100x30`},
	},
	"CallgateSpoolNearLimit": {
		bad:  []string{`callgate_spool_bytes 0+5x30`, `callgate_spool_limit_bytes 100x30`},
		good: []string{`callgate_spool_bytes 0+5x30`, `callgate_spool_limit_bytes 0x30`},
	},
	"CallgateSpoolAbandoned": {
		bad:  []string{`callgate_spool_home_bytes{instance="a",state="abandoned"} 0x5 12x25`},
		good: []string{`callgate_spool_home_bytes{instance="a",state="abandoned"} 12x4 0x26`, `callgate_spool_home_bytes{instance="a",state="adopted"} 12x30`},
	},
	"CallgateStatisticsBehind": {
		bad:  []string{`callgate_ledger_data_through_age_seconds{instance="a"} 1x5 60+60x25`},
		good: []string{`callgate_ledger_data_through_age_seconds{instance="a"} 1x5 61 1x25`},
	},
	"CallgateSpoolSilent": {
		bad:  []string{`callgate_ledger_silent_spools 0x5 1x25`},
		good: []string{`callgate_ledger_silent_spools 0x5 1x5 0x20`},
	},
	"CallgateRevocationSlow": {
		bad:  []string{`callgate_access_revocation_lag_seconds_bucket{instance="a",le="2"} 0x30`, `callgate_access_revocation_lag_seconds_bucket{instance="a",le="5"} 0+9x30`, `callgate_access_revocation_lag_seconds_bucket{instance="a",le="+Inf"} 0+9x30`},
		good: []string{`callgate_access_revocation_lag_seconds_bucket{instance="a",le="2"} 0+9x30`, `callgate_access_revocation_lag_seconds_bucket{instance="a",le="5"} 0+9x30`, `callgate_access_revocation_lag_seconds_bucket{instance="a",le="+Inf"} 0+9x30`},
	},
	"CallgateChangeFeedStale": {
		bad:  []string{`callgate_access_feed_age_seconds 0x5 0+60x25`},
		good: []string{`callgate_access_feed_age_seconds 1x30`},
	},
	"CallgateUpstreamsFail": {
		bad:  []string{`callgate_gateway_calls_total{outcome="success",instance="a"} 0+90x30`, `callgate_gateway_calls_total{outcome="upstream_timeout",instance="a"} 0+10x30`},
		good: []string{`callgate_gateway_calls_total{outcome="success",instance="a"} 0+99x30`, `callgate_gateway_calls_total{outcome="upstream_timeout",instance="a"} 0+1x30`, `callgate_gateway_calls_total{outcome="client_closed",instance="a"} 0+50x30`},
	},
	"CallgateOverloaded": {
		bad:  []string{`callgate_gateway_calls_total{outcome="overloaded",instance="a"} 0x5 0+1x25`},
		good: []string{`callgate_gateway_calls_total{outcome="overloaded",instance="a"} 5x30`},
	},
	"CallgateInternalErrors": {
		bad:  []string{`callgate_gateway_calls_total{outcome="internal",instance="a"} 0x15 1x15`},
		good: []string{`callgate_gateway_calls_total{outcome="internal",instance="a"} 1x30`},
	},
	"CallgateKeysUnresolved": {
		bad:  []string{`callgate_access_refusals_total{reason="unavailable",instance="a"} 0x5 0+1x25`},
		good: []string{`callgate_access_refusals_total{reason="unknown",instance="a"} 0x5 0+1x25`},
	},
	"CallgateConnectionsNearLimit": {
		bad:  []string{`callgate_connections 0+4x30`, `callgate_connections_limit 100x30`},
		good: []string{`callgate_connections 79x30`, `callgate_connections_limit 100x30`},
	},
	"CallgateAcceptFails": {
		bad:  []string{`callgate_accept_failures_total 0x5 0+1x25`},
		good: []string{`callgate_accept_failures_total 3x30`},
	},
	"CallgateCertificateEnds": {
		bad:  []string{`callgate_certificate_not_after_seconds{peer="upstream"} 1200000x30`},
		good: []string{`callgate_certificate_not_after_seconds{peer="upstream"} 1300000x30`}, // 15 days after the epoch
	},
	"CallgateCallsStoredTwice": {
		bad:  []string{`callgate_maintenance_duplicate_calls_total 0x15 2x15`},
		good: []string{`callgate_maintenance_duplicate_calls_total 0x30`},
	},
	"CallgateVersionsDiffer": {
		bad:  []string{`callgate_build_info{version="1",instance="a"} 1x100`, `callgate_build_info{version="2",instance="b"} 1x100`},
		good: []string{`callgate_build_info{version="1",instance="a"} 1x30 _x70`, `callgate_build_info{version="2",instance="b"} 1x100`},
	},
}

// TestEveryAlertFiresInItsTroubleAndInNoOther evaluates each rule every 15 s as a Prometheus server does: it fires
// when its expression has held for as long as it says.
func TestEveryAlertFiresInItsTroubleAndInNoOther(t *testing.T) {
	const every = 15 * time.Second
	known := map[string]bool{"up": true} // Prometheus' own
	for name := range documentedMetrics(t) {
		known[name], known[name+"_bucket"] = true, true
	}
	left := len(troubles)
	for _, rule := range alerts(t) {
		trouble, ok := troubles[rule.Alert]
		if !ok {
			t.Errorf("%s is an alert without a test", rule.Alert)
			continue
		}
		left--
		for _, name := range namesIn(t, rule.Expr) {
			if !known[name] {
				t.Errorf("%s asks for %s, which is not in metrics.md", rule.Alert, name)
			}
		}
		fires := func(series []string) bool {
			var p prometheus
			p.written(t, series...)
			end := epoch.Add(time.Duration(len(p.series[0].Floats)-1) * time.Minute)
			for _, held := range p.over(t, rule.Expr, epoch, end, every) {
				run, last := time.Duration(0), int64(-1)
				for _, point := range held.Floats {
					if last >= 0 && point.T-last == every.Milliseconds() {
						run += every
					} else {
						run = 0
					}
					if last = point.T; run >= time.Duration(rule.For) {
						return true
					}
				}
			}
			return false
		}
		if !fires(trouble.bad) {
			t.Errorf("%s does not fire", rule.Alert)
		}
		if fires(trouble.good) {
			t.Errorf("%s fires for nothing", rule.Alert)
		}
	}
	if left != 0 {
		t.Errorf("%d tested alerts are not there", left)
	}
}

func TestEveryAlertSaysHowUrgentItIsAndLeadsToItsRunbook(t *testing.T) {
	runbooks, err := os.ReadFile(deployed("docs/runbooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, section := range strings.Split(string(runbooks), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		sections[title] = strings.TrimSpace(text)
	}
	for _, rule := range alerts(t) {
		if severity := rule.Labels["severity"]; severity != "warning" && severity != "critical" {
			t.Errorf("%s has severity %q", rule.Alert, severity)
		}
		if rule.Annotations["summary"] == "" || rule.Annotations["runbook_url"] != "deploy/docs/runbooks.md#"+strings.ToLower(rule.Alert) {
			t.Errorf("%s is explained by %v", rule.Alert, rule.Annotations)
		}
		if len(sections[rule.Alert]) < 80 {
			t.Errorf("the runbook of %s says %q", rule.Alert, sections[rule.Alert])
		}
		delete(sections, rule.Alert)
	}
	for title := range sections {
		t.Errorf("a runbook for %s, which is no alert", title)
	}
	for _, name := range regexp.MustCompile(`\bcallgate_[a-z_]+\b`).FindAllString(string(runbooks), -1) {
		if _, ok := documentedMetrics(t)[name]; !ok {
			t.Errorf("a runbook looks at %s, which is no metric", name)
		}
	}
}
