package checks

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// troubles are, for each alert, series of ten minutes and more in which it must fire, and such as are no reason to.
// A value stands for each minute.
var troubles = map[string]struct{ bad, good []string }{
	"CallgateNoGateway": {
		bad:  []string{`callgate_build_info{role="gateway",release="staging"} 1x40`, `callgate_build_info{role="gateway",release="production"} 1x10 stale _x29`, `callgate_build_info{role="console",release="production"} 1x40`},
		good: []string{`callgate_build_info{role="gateway",release="staging"} 1x40`, `callgate_build_info{role="gateway",release="production"} 1x10 stale 1x29`},
	},
	"CallgateNoConsole": {
		bad:  []string{`callgate_build_info{role="all",release="staging"} 1x40`, `callgate_build_info{role="console",release="production"} 1x10 stale _x29`},
		good: []string{`callgate_build_info{role="all",release="staging"} 1x40`, `callgate_build_info{role="console",release="production"} 1x40`},
	},
	"CallgateProcessDown": {
		bad:  []string{`up{job="callgate",instance="a"} 1x5 0x25`},
		good: []string{`up{job="callgate",instance="a"} 1x5 0 1x25`, `up{job="other",instance="b"} 0x30`},
	},
	"CallgateStoreAway": {
		bad:  []string{`callgate_store_up{store="postgres"} 1x5 0x25`},
		good: []string{`callgate_store_up{store="postgres"} 1x30`, `callgate_store_up{store="clickhouse"} 1x5 0 1x25`, `callgate_store_up{store="redis"} 1x5 0x25`},
	},
	"CallgateRedisAway": {
		bad:  []string{`callgate_store_up{store="redis"} 1x5 0x25`},
		good: []string{`callgate_store_up{store="redis"} 1x5 0 1x25`, `callgate_store_up{store="clickhouse"} 1x5 0x25`},
	},
	"CallgateRedisBreakerOpen": {
		bad:  []string{`callgate_access_redis_breaker_open 0x5 1x25`},
		good: []string{`callgate_access_redis_breaker_open 0x5 1 0x25`},
	},
	"CallgateLimitsShared": {
		bad:  []string{`callgate_limits_shared 0x5 1x25`},
		good: []string{`callgate_limits_shared 0x5 1x8 0x16`},
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
	"CallgateDaysWait": {
		bad:  []string{`callgate_days_waiting{instance="a"} 0x10 1x150`, `callgate_days_waiting{instance="b"} 0x160`},
		good: []string{`callgate_days_waiting{instance="a"} 0x10 1x100 0x50`},
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
	"CallgateInvalidKeys": { // on the second day: more than on the first, or as many beside no calls
		bad:  []string{`callgate_gateway_refused_total{code="invalid_api_key"} 0+3x1470 4410+60x60`, `callgate_gateway_calls_total{outcome="success"} 0+180x1531`},
		good: []string{`callgate_gateway_refused_total{code="invalid_api_key"} 0+60x1530`, `callgate_gateway_calls_total{outcome="success"} 0+6000x1470 8820000x60`},
	},
	"CallgateCallsBudgetBurnsFast": {
		bad:  []string{`callgate_gateway_calls_total{outcome="success",release="a"} 0+980x60`, `callgate_gateway_calls_total{outcome="overloaded",release="a"} 0+10x60`, `callgate_gateway_refused_total{code="access_unavailable",release="a"} 0+10x60`},
		good: []string{`callgate_gateway_calls_total{outcome="success",release="a"} 0+995x60`, `callgate_gateway_calls_total{outcome="internal",release="a"} 0+5x60`, `callgate_gateway_calls_total{outcome="upstream_status",release="a"} 0+100x60`},
	},
	"CallgateCallsBudgetBurnsSlowly": {
		bad:  []string{`callgate_gateway_calls_total{outcome="success"} 0+998x60`, `callgate_gateway_calls_total{outcome="internal"} 0+2x60`},
		good: []string{`callgate_gateway_calls_total{outcome="success"} 0+9995x60`, `callgate_gateway_calls_total{outcome="internal"} 0+5x60`, `callgate_gateway_refused_total{code="invalid_api_key"} 0+100x60`},
	},
	"CallgateFreshnessBudgetBurnsFast": {
		bad:  []string{`callgate_ledger_data_through_age_seconds{instance="a"} 2x90 90x20`, `callgate_ledger_data_through_age_seconds{instance="b"} 2x90 90x20`},
		good: []string{`callgate_ledger_data_through_age_seconds{instance="a"} 2x110 90x4 2x60`},
	},
	"CallgateFreshnessBudgetBurnsSlowly": {
		bad:  []string{`callgate_ledger_data_through_age_seconds 2x110 90x4 2x60`},
		good: []string{`callgate_ledger_data_through_age_seconds 2x120 90 2x60`},
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
	"CallgateAlertsEvaluators": {
		bad:  []string{`callgate_alerts_evaluating{instance="a"} 1x30`, `callgate_alerts_evaluating{instance="b"} 0x5 1x25`},
		good: []string{`callgate_alerts_evaluating{instance="a"} 1x5 0x25`, `callgate_alerts_evaluating{instance="b"} 0x5 1x25`, `callgate_alerts_evaluating{instance="c",release="staging"} 1x30`},
	},
	"CallgateAlertDeliveriesFail": {
		bad:  []string{`callgate_alerts_delivery_attempts_total{channel="slack",result="failed"} 0x5 1+1x25`, `callgate_alerts_delivery_attempts_total{channel="slack",result="delivered"} 0x31`},
		good: []string{`callgate_alerts_delivery_attempts_total{channel="webhook",result="failed"} 0+1x60`, `callgate_alerts_delivery_attempts_total{channel="webhook",result="delivered"} 0+2x60`},
	},
	"CallgateSignInMailFails": {
		bad:  []string{`callgate_mail_attempts_total{kind="code",result="failed"} 0x15 0+2x15`, `callgate_mail_attempts_total{kind="notice",result="sent"} 7x30`},
		good: []string{`callgate_mail_attempts_total{kind="code",result="failed"} 0x15 0+2x15`, `callgate_mail_attempts_total{kind="code",result="sent"} 0+1x30`, `callgate_mail_attempts_total{kind="code",result="refused"} 0+1x30`},
	},
	"CallgateVersionsDiffer": {
		bad:  []string{`callgate_build_info{version="1",instance="a"} 1x100`, `callgate_build_info{version="2",instance="b"} 1x100`},
		good: []string{`callgate_build_info{version="1",instance="a"} 1x30 _x70`, `callgate_build_info{version="2",instance="b"} 1x100`, `callgate_build_info{version="3",release="staging"} 1x100`},
	},
}

// further are troubles besides those, and what is none although it looks like one.
var further = []struct {
	alert  string
	fires  bool
	series []string
}{
	{"CallgateNoGateway", true, []string{`callgate_build_info{role="console"} 1x30`}},
	{"CallgateNoGateway", true, []string{`up 1x30`}},
	{"CallgateNoGateway", true, []string{ // of the same name elsewhere
		`callgate_build_info{role="all",release="callgate",namespace="staging"} 1x40`, `callgate_build_info{role="all",release="callgate",namespace="production"} 1x10 stale _x29`}},
	{"CallgateNoGateway", false, []string{`callgate_build_info{role="gateway"} 1x30`}},
	{"CallgateNoConsole", true, []string{`callgate_build_info{role="gateway"} 1x30`}},
	{"CallgateNoConsole", false, []string{`callgate_build_info{role="all"} 1x30`}},
	{"CallgateStoreAway", true, []string{`callgate_store_up{store="clickhouse"} 1x5 0x25`}},
	{"CallgateAlertsEvaluators", true, []string{`callgate_alerts_evaluating{instance="a"} 1x5 0x25`, `callgate_alerts_evaluating{instance="b"} 0x30`}},
	{"CallgateAlertsEvaluators", false, []string{`callgate_alerts_evaluating{instance="a"} 1x5 0x25`, `callgate_alerts_evaluating{instance="b"} 0x8 1x22`}}, // handed over
	{"CallgateAlertDeliveriesFail", true, []string{`callgate_alerts_delivery_attempts_total{channel="mail",result="failed"} 0x5 1 2 3 4 4 5x20`, `callgate_alerts_delivery_attempts_total{channel="mail",result="delivered"} 3x30`}},
	{"CallgateAlertDeliveriesFail", false, []string{ // one receiver that is gone
		`callgate_alerts_delivery_attempts_total{channel="webhook",result="failed"} 0x5 3 4 5 5 6 6 7x5 8x5 9x20`, `callgate_alerts_delivery_attempts_total{channel="webhook",result="delivered"} 0x50`}},
	{"CallgateSignInMailFails", true, []string{`callgate_mail_attempts_total{kind="code",result="refused"} 0x15 0+5x15`, `callgate_mail_attempts_total{kind="code",result="sent"} 7x30`}},
	{"CallgateSignInMailFails", false, []string{ // a stranger's addresses
		`callgate_mail_attempts_total{kind="code",result="refused"} 0+1x30`, `callgate_mail_attempts_total{kind="code",result="sent"} 7x30`}},
	{"CallgateInvalidKeys", true, []string{ // of a first day, and no call is attributed any more
		`callgate_gateway_refused_total{code="invalid_api_key"} 0x10 0+30x50`, `callgate_gateway_calls_total{outcome="success"} 0+30x10 300x50`}},
	{"CallgateInvalidKeys", false, []string{ // a stranger beside many calls
		`callgate_gateway_refused_total{code="invalid_api_key"} 0x10 0+300x50`, `callgate_gateway_calls_total{outcome="success"} 0+6000x60`}},
	{"CallgateInvalidKeys", false, []string{ // a stranger beside none
		`callgate_gateway_refused_total{code="invalid_api_key"} 0x10 0+10x50`, `callgate_gateway_calls_total{outcome="success"} 5x60`}},
	{"CallgateCallsBudgetBurnsFast", true, []string{ // slower, for hours
		`callgate_gateway_calls_total{outcome="success"} 0+992x400`, `callgate_gateway_calls_total{outcome="internal"} 0+8x400`}},
	{"CallgateCallsBudgetBurnsFast", false, []string{`callgate_gateway_calls_total{outcome="success"} 0x60`, `callgate_gateway_calls_total{outcome="internal"} 0x60`}},
}

// minutes is how long the longest of some series is.
func minutes(t *testing.T, series []string) (n int) {
	t.Helper()
	for _, line := range series {
		_, values, err := dialect.ParseSeriesDesc(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		n = max(n, len(values)-1)
	}
	return n
}

// fires tells whether a rule that is evaluated every 15 s, as a Prometheus server does, after those that record, fires:
// its expression has then held for as long as it says.
func fires(t *testing.T, recordings []rulefmt.Rule, rule rulefmt.Rule, series []string) bool {
	t.Helper()
	const every = 15 * time.Second
	var p prometheus
	p.written(t, series...)
	end := epoch.Add(time.Duration(minutes(t, series)) * time.Minute)
	for _, r := range recordings {
		for _, recorded := range p.over(t, r.Expr, epoch, end, every) {
			recorded.Metric = labels.NewBuilder(recorded.Metric).Set(model.MetricNameLabel, r.Record).Labels()
			recorded.Floats = slices.Clone(recorded.Floats)
			p.series = append(p.series, recorded)
		}
	}
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

func TestEveryAlertFiresInItsTroubleAndInNoOther(t *testing.T) {
	known := map[string]bool{"up": true} // Prometheus' own
	for name := range documentedMetrics(t) {
		known[name], known[name+"_bucket"] = true, true
	}
	recordings, alerts := rules(t)
	asks := func(name, expression string) {
		for _, metric := range namesIn(t, expression) {
			if !known[metric] {
				t.Errorf("%s asks for %s, which is neither in metrics.md nor recorded before", name, metric)
			}
		}
	}
	for _, rule := range recordings {
		asks(rule.Record, rule.Expr)
		known[rule.Record] = true
	}
	left := len(troubles)
	for _, rule := range alerts {
		trouble, ok := troubles[rule.Alert]
		if !ok {
			t.Errorf("%s is an alert without a test", rule.Alert)
			continue
		}
		left--
		asks(rule.Alert, rule.Expr)
		if !fires(t, recordings, rule, trouble.bad) {
			t.Errorf("%s does not fire", rule.Alert)
		}
		if fires(t, recordings, rule, trouble.good) {
			t.Errorf("%s fires for nothing", rule.Alert)
		}
		for _, f := range further {
			if f.alert == rule.Alert && fires(t, recordings, rule, f.series) != f.fires {
				t.Errorf("%s fires: %t, of %v", f.alert, !f.fires, f.series)
			}
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
	_, alerts := rules(t)
	for _, rule := range alerts {
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
