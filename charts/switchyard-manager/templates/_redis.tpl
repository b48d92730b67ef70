{{- define "switchyard.redisName" -}}
{{- printf "%s-redis" (include "switchyard.fullname" . | trunc 57 | trimSuffix "-") -}}
{{- end -}}

{{- /* Other ones than those by which the manager's pods are known. */}}
{{- define "switchyard.redisSelectorLabels" -}}
app.kubernetes.io/name: {{ printf "%s-redis" (include "switchyard.name" . | trunc 57 | trimSuffix "-") }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* The URL that goes into a Secret of the release; empty: there is none, or a Secret of somebody else has it. */}}
{{- define "switchyard.redisUrl" -}}
{{- if .Values.redis.evaluation.enabled -}}
redis://{{ include "switchyard.redisName" . }}.{{ .Release.Namespace }}.svc:6379
{{- else -}}
{{- .Values.redis.url -}}
{{- end -}}
{{- end -}}

{{- /* Which of the ways to Redis are given: not empty where there is one. */}}
{{- define "switchyard.hasRedis" -}}
{{- with .Values.redis -}}
{{- $ways := list -}}
{{- range $name := list "url" "existingSecret" "sentinels" "clusterNodes" }}
{{- if index $.Values.redis $name }}
{{- $ways = append $ways (printf "redis.%s" $name) }}
{{- end }}
{{- end }}
{{- if .evaluation.enabled }}
{{- $ways = append $ways "redis.evaluation.enabled" }}
{{- end }}
{{- if gt (len $ways) 1 }}
{{- fail (printf "%s name one Redis each: choose one of them" (join " and " $ways)) }}
{{- end }}
{{- join "" $ways -}}
{{- end -}}
{{- end -}}

{{- /* Where a NetworkPolicy must let the manager through: the ports that the addresses name, and those of the values. */}}
{{- define "switchyard.redisPorts" -}}
{{- $ports := .Values.networkPolicy.redis.ports -}}
{{- with .Values.redis.url }}
{{- $ports = append $ports (include "switchyard.urlPort" . | int) }}
{{- end }}
{{- range concat .Values.redis.sentinels .Values.redis.clusterNodes }}
{{- $ports = append $ports (regexFind "[0-9]+$" . | int) }}
{{- end }}
{{- $seen := dict -}}
{{- range $ports }}
{{- $_ := set $seen (toString (int .)) (int .) }}
{{- end }}
{{- values $seen | sortAlpha | toJson -}}
{{- end -}}

{{- /* Name and key of the Secret with the URL; empty: there is no URL. */}}
{{- define "switchyard.redisSecret" -}}
{{- if .Values.redis.existingSecret -}}
name: {{ .Values.redis.existingSecret }}
key: {{ .Values.redis.existingSecretKey }}
{{- else if include "switchyard.redisUrl" . -}}
name: {{ include "switchyard.redisName" . }}
key: url
{{- end -}}
{{- end -}}

{{- /* Secrets that are mounted, by the name of the volume. */}}
{{- define "switchyard.redisFiles" -}}
{{- with .Values.redis.passwordSecret }}
redis-password: {{ . }}
{{- end }}
{{- with .Values.redis.sentinelPasswordSecret }}
redis-sentinel-password: {{ . }}
{{- end }}
{{- with .Values.redis.tls.existingSecret }}
redis-tls: {{ . }}
{{- end }}
{{- end -}}
