{{- define "callgate.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels by which pods of a component are selected: (list $ "gateway") */}}
{{- define "callgate.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "callgate.labels" -}}
{{- $root := index . 0 -}}
{{ include "callgate.selector" . }}
app.kubernetes.io/version: {{ default $root.Chart.AppVersion $root.Values.image.tag | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end -}}

{{- define "callgate.image" -}}
{{ required "image.repository is missing: build the image, push it to your registry and name it here (deploy/docs/kubernetes.md)" .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{/* Seconds: DRAIN_DELAY, DRAIN_TIMEOUT and what records get. */}}
{{- define "callgate.grace" -}}
{{ add .Values.drain.delaySeconds .Values.drain.timeoutSeconds 15 }}
{{- end -}}

{{- define "callgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "callgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Variables that hold secrets come from Secrets alone. */}}
{{- define "callgate.secretNames" -}}
DATABASE_URL CLICKHOUSE_URL REDIS_URL ENCRYPTION_KEYS ACCESS_KEY_PEPPER JWT_SECRET SMTP_URL OIDC_CLIENT_SECRET CLICKHOUSE_READER_PASSWORD OTEL_EXPORTER_OTLP_HEADERS
{{- end -}}

{{/* One variable out of the installation's Secret: (list $ "JWT_SECRET") */}}
{{- define "callgate.secret" -}}
- name: {{ index . 1 }}
  valueFrom:
    secretKeyRef: { name: {{ (index . 0).Values.secrets.name }}, key: {{ index . 1 }} }
{{- end -}}

{{/* A store's URL: (list "DATABASE_URL" "DATABASE_PASSWORD" .Values.stores.postgres). Kubernetes puts the password
into the URL, so that no object but the Secret holds it. */}}
{{- define "callgate.store" -}}
{{- $name := index . 0 -}}
{{- $password := index . 1 -}}
{{- $store := index . 2 -}}
{{- if $store.url -}}
{{- if not (contains "$(PASSWORD)" $store.url) -}}
{{- fail (printf "%s: write $(PASSWORD) where the URL has its password, and name its Secret in passwordSecret; or keep the whole URL in a Secret (urlSecret)" $name) -}}
{{- end -}}
- name: {{ $password }}
  valueFrom:
    secretKeyRef: { name: {{ required (printf "%s: passwordSecret.name is missing" $name) $store.passwordSecret.name }}, key: {{ required (printf "%s: passwordSecret.key is missing" $name) $store.passwordSecret.key }} }
- name: {{ $name }}
  value: {{ replace "$(PASSWORD)" (printf "$(%s)" $password) $store.url | quote }}
{{- else -}}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ $store.urlSecret.name }}, key: {{ $store.urlSecret.key }} }
{{- end -}}
{{- end -}}

{{/* What migrate needs. */}}
{{- define "callgate.storeEnv" -}}
{{ include "callgate.store" (list "DATABASE_URL" "DATABASE_PASSWORD" .Values.stores.postgres) }}
{{ include "callgate.store" (list "CLICKHOUSE_URL" "CLICKHOUSE_PASSWORD" .Values.stores.clickhouse) }}
{{- end -}}

{{/* Free settings: (list settings…), later ones win. Those of secrets are refused. */}}
{{- define "callgate.settings" -}}
{{- $secrets := splitList " " (include "callgate.secretNames" .) -}}
{{- $own := list "LISTEN" "METRICS_LISTEN" "PUBLIC_BASE_URL" "PUBLIC_GATEWAY_URL" "DRAIN_DELAY" "DRAIN_TIMEOUT" "SPOOL_DIR" "ADMIN_EMAILS" "MAIL_FROM" "TRUSTED_PROXIES" "CLIENT_ADDRESS_HEADER" "PROXY_PROTOCOL" -}}
{{- $all := dict -}}
{{- range . -}}{{- $all = mergeOverwrite $all (deepCopy .) -}}{{- end -}}
{{- range $name, $value := $all }}
{{- if has $name $secrets }}{{ fail (printf "%s is a secret: put it into the Secret of secrets.name, not into config" $name) }}{{ end }}
{{- if has $name $own }}{{ fail (printf "set by the chart: %s; remove it from config" $name) }}{{ end }}
- name: {{ $name }}
  value: {{ if and (kindIs "float64" $value) (eq (floor $value) $value) }}{{ int64 $value | quote }}{{ else }}{{ $value | toString | quote }}{{ end }}
{{- end }}
{{- end -}}

{{/* What every serving process needs. */}}
{{- define "callgate.serveEnv" -}}
- name: LISTEN
  value: 0.0.0.0:8080
- name: METRICS_LISTEN
  value: 0.0.0.0:9090
- name: PUBLIC_BASE_URL
  value: {{ required "publicBaseURL is missing: what users type, https://…" .Values.publicBaseURL | quote }}
{{- with .Values.publicGatewayURL }}
- name: PUBLIC_GATEWAY_URL
  value: {{ . | quote }}
{{- end }}
- name: DRAIN_DELAY
  value: {{ .Values.drain.delaySeconds }}s
- name: DRAIN_TIMEOUT
  value: {{ .Values.drain.timeoutSeconds }}s
{{- with .Values.proxies }}
{{- if .trusted }}
- name: TRUSTED_PROXIES
  value: {{ join "," .trusted | quote }}
- name: CLIENT_ADDRESS_HEADER
  value: {{ .addressHeader }}
- name: PROXY_PROTOCOL
  value: {{ .protocol | quote }}
{{- else if .protocol }}{{ fail "proxies.protocol needs proxies.trusted: the addresses or CIDRs of the proxies that send its header" }}
{{- end }}
{{- end }}
{{ include "callgate.storeEnv" . }}
{{ include "callgate.store" (list "REDIS_URL" "REDIS_PASSWORD" .Values.stores.redis) }}
{{ include "callgate.secret" (list . "ENCRYPTION_KEYS") }}
{{ include "callgate.secret" (list . "ACCESS_KEY_PEPPER") }}
{{- end -}}

{{- define "callgate.probes" -}}
startupProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
# Not ready: no new connections. A pod whose secrets do not fit never becomes ready, and a rollout stops there; stores that are
# away later take no pod out of rotation.
readinessProbe:
  httpGet: { path: /health/ready, port: http }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end -}}

{{- define "callgate.ports" -}}
- { name: http, containerPort: 8080 }
- { name: metrics, containerPort: 9090 }
{{- end -}}

{{/* What the installation adds to every container. */}}
{{- define "callgate.extraEnvFrom" -}}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* How a Service is reached: its part of the values. */}}
{{- define "callgate.service" -}}
{{- with .type }}
type: {{ . }}
{{- end }}
{{- with .externalTrafficPolicy }}
externalTrafficPolicy: {{ . }}
{{- end }}
{{- end -}}

{{/* Where pods of a component run: (list $ "gateway" .Values.gateway) */}}
{{- define "callgate.placement" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- with index . 2 }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- with .topologySpreadConstraints }}
  {{- toYaml . | nindent 2 }}
{{- else }}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "callgate.selector" (list $root $component) | nindent 8 }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
