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
