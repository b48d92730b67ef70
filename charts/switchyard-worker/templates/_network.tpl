{{- /* A rule of a NetworkPolicy: (list what ports protocols peers). Without peers it is to anywhere. The same file in both charts. */}}
{{- define "switchyard.egress" -}}
{{- $protocols := index . 2 -}}
{{- $ports := list -}}
{{- range $port := index . 1 }}
{{- range $protocol := $protocols }}
{{- $ports = append $ports (dict "port" (int $port) "protocol" $protocol) }}
{{- end }}
{{- end -}}
# {{ index . 0 }}
- ports:
    {{- toYaml $ports | nindent 4 }}
  {{- with index . 3 }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /* The port that a URL names, or that of its scheme. */}}
{{- define "switchyard.urlPort" -}}
{{- $host := regexReplaceAll "^[a-z0-9]+://([^/?#]*@)?([^/?#]*).*$" . "${2}" -}}
{{- $default := get (dict "http" "80" "https" "443" "redis" "6379" "rediss" "6379") (splitList "://" . | first) -}}
{{- regexFind ":[0-9]+$" $host | trimPrefix ":" | default $default -}}
{{- end -}}

{{- /* To the collector of traces, where there is one: (root). */}}
{{- define "switchyard.otlpEgress" -}}
{{- with .Values.config.otlpEndpoint -}}
{{- include "switchyard.egress" (list "the collector of traces" (list (include "switchyard.urlPort" .)) (list "TCP") $.Values.networkPolicy.otlp.to) -}}
{{- end -}}
{{- end -}}
