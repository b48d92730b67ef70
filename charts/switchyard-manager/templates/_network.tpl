{{- /* A rule of a NetworkPolicy: (list what ports protocols peers). Peers are a list, or the word anywhere. The same file in both charts. */}}
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
  {{- if not (index . 3) }}
  {{- fail (printf "networkPolicy: say where %s is to be reached, by peers or by the word anywhere" (index . 0)) }}
  {{- else if not (kindIs "string" (index . 3)) }}
  to:
    {{- toYaml (index . 3) | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /* What may come in, as a list in JSON: (list (list port peers) ...). Peers are a list, of which an empty one is nobody and makes no rule, or the word anywhere. */}}
{{- define "switchyard.ingress" -}}
{{- $rules := list -}}
{{- range . }}
{{- $ports := list (dict "port" (int (index . 0)) "protocol" "TCP") }}
{{- if kindIs "string" (index . 1) }}
{{- $rules = append $rules (dict "ports" $ports) }}
{{- else if index . 1 }}
{{- $rules = append $rules (dict "ports" $ports "from" (index . 1)) }}
{{- end }}
{{- end -}}
{{- toJson $rules -}}
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
