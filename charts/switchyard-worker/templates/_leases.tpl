{{- /* The Leases by which manager and worker know of each other. */}}
{{- define "switchyard.workerLease" -}}
{{- $controller := .Values.config.controllerName -}}
{{- if eq $controller "switchyard.dev/worker" -}}
switchyard-worker
{{- else -}}
switchyard-worker-{{ sha256sum $controller | trunc 8 }}
{{- end -}}
{{- end -}}

{{- /* Managers of an earlier release look in kube-system alone. While a Lease there is newer than its counterpart, or has none, one of them is at work. */}}
{{- define "switchyard.formerLeaseNamespace" -}}
{{- $said := .Values.config.formerLeaseNamespace -}}
{{- if ne $said "auto" -}}
{{- if ne $said .Values.config.leaseNamespace -}}{{ $said }}{{- end -}}
{{- else if ne .Values.config.leaseNamespace "kube-system" -}}
{{- $renewed := dict -}}
{{- range (lookup "coordination.k8s.io/v1" "Lease" .Values.config.leaseNamespace "" | default dict).items -}}
{{- $_ := set $renewed .metadata.name ((.spec | default dict).renewTime | default "" | trunc 16) -}}
{{- end -}}
{{- $former := "" -}}
{{- range (lookup "coordination.k8s.io/v1" "Lease" "kube-system" "" | default dict).items -}}
{{- $labels := .metadata.labels | default dict -}}
{{- if or (hasKey $labels "switchyard.dev/origin") (hasKey $labels "switchyard.dev/worker") -}}
{{- if or (not (hasKey $renewed .metadata.name)) (gt ((.spec | default dict).renewTime | default "" | trunc 16) (get $renewed .metadata.name)) -}}
{{- $former = "kube-system" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $former -}}
{{- end -}}
{{- end -}}

{{- /* In one namespace the Lease of the election must have another name than the one by which the worker says that it is alive. */}}
{{- define "switchyard.electionLease" -}}
{{ include "switchyard.fullname" . }}{{ if eq .Release.Namespace .Values.config.leaseNamespace }}-leader{{ end }}
{{- end -}}
