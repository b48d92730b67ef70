{{- /* What contradicts itself, or would not work, is not rendered. */}}
{{- define "switchyard.checks" -}}
{{- include "switchyard.podChecks" . }}
{{- $_ := include "switchyard.hasRedis" . }}
{{- $ports := dict "metrics.port" .Values.metrics.port "webhook.port" .Values.webhook.port }}
{{- if .Values.api.enabled }}
{{- $_ := set $ports "api.port" .Values.api.port }}
{{- end }}
{{- if .Values.dashboard.enabled }}
{{- $_ := set $ports "dashboard.port" .Values.dashboard.port }}
{{- end }}
{{- $seen := dict }}
{{- range $name, $port := $ports }}
{{- if hasKey $seen (toString $port) }}
{{- fail (printf "%s and %s are both %v: give each a port of its own" (get $seen (toString $port)) $name $port) }}
{{- end }}
{{- $_ := set $seen (toString $port) $name }}
{{- end }}
{{- $needed := add .Values.preStopSleepSeconds .Values.webhook.shutdownDelaySeconds 25 }}
{{- if lt (int .Values.terminationGracePeriodSeconds) (int $needed) }}
{{- fail (printf "terminationGracePeriodSeconds is %v: preStopSleepSeconds, webhook.shutdownDelaySeconds and 25 to finish make %v" .Values.terminationGracePeriodSeconds $needed) }}
{{- end }}
{{- if and .Values.redis.sentinels (not .Values.redis.sentinelName) }}
{{- fail "redis.sentinels needs redis.sentinelName: what the sentinels call the master" }}
{{- end }}
{{- end -}}
