{{- /* What the values say, as flags of the program: files/flags.yaml names each flag and its place in the values. A value that is absent is no flag. */}}
{{- define "switchyard.flags" -}}
{{- range $entry := .Files.Get "files/flags.yaml" | fromYamlArray }}
{{- $value := $.Values }}
{{- range $key := $entry.value }}
{{- if kindIs "map" $value }}
{{- $value = index $value $key }}
{{- end }}
{{- end }}
{{- if kindIs "bool" $value }}
{{- if $value }}
- --{{ $entry.flag }}
{{- end }}
{{- else if not (kindIs "invalid" $value) }}
{{- $text := include "switchyard.flagText" (dict "value" $value) }}
{{- if or $text (not $entry.optional) }}
- {{ printf "--%s=%s" $entry.flag $text | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Numbers by toJson: YAML makes floats of them, which Go would print as 2e+06. */}}
{{- define "switchyard.flagText" -}}
{{- if kindIs "slice" .value -}}
{{- join "," .value -}}
{{- else if kindIs "map" .value -}}
{{- $pairs := list -}}
{{- range $key, $each := .value -}}
{{- $pairs = append $pairs (printf "%s=%s" $key ($each | toString)) -}}
{{- end -}}
{{- join "," $pairs -}}
{{- else if kindIs "string" .value -}}
{{- .value -}}
{{- else -}}
{{- toJson .value -}}
{{- end -}}
{{- end -}}
