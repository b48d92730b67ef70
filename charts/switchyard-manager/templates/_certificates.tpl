{{- /* Whether switchyard-certificates makes the webhook's certificate. */}}
{{- define "switchyard.ownCertificate" -}}
{{- if not (or .Values.webhook.tls.existingSecret .Values.webhook.tls.certManager.enabled) -}}
true
{{- end -}}
{{- end -}}

{{- define "switchyard.certificatesName" -}}
{{- printf "%s-certificates" (include "switchyard.fullname" . | trunc 43 | trimSuffix "-") -}}
{{- end -}}

{{- /* Other ones than those by which the manager's pods are known. */}}
{{- define "switchyard.certificatesSelectorLabels" -}}
app.kubernetes.io/name: {{ printf "%s-certificates" (include "switchyard.name" . | trunc 50 | trimSuffix "-") }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* The account that may patch the webhook configurations: never that of the managers. */}}
{{- define "switchyard.certificatesAccount" -}}
{{- $account := .Values.webhook.tls.serviceAccountName | default (include "switchyard.certificatesName" .) -}}
{{- if eq $account (include "switchyard.serviceAccountName" .) -}}
{{- fail (printf "webhook.tls.serviceAccountName is %s, the account of the managers: name another, or a thief of their token can send all writes of the cluster to a server of their own" $account) -}}
{{- end -}}
{{- $account -}}
{{- end -}}

{{- define "switchyard.webhookSecret" -}}
{{- .Values.webhook.tls.existingSecret | default (printf "%s-webhook-tls" (include "switchyard.fullname" .)) -}}
{{- end -}}

{{- /* Secrets with certificates, and of the OpenID provider, that the pods mount, by the directory in /etc/switchyard: as YAML. */}}
{{- define "switchyard.certificateSecrets" -}}
{{- $own := include "switchyard.ownCertificate" . -}}
{{- if not $own }}
webhook-tls: {{ include "switchyard.webhookSecret" . }}
{{- end }}
{{- if and .Values.api.enabled .Values.api.tls.existingSecret }}
api-tls: {{ .Values.api.tls.existingSecret }}
{{- end }}
{{- if and .Values.dashboard.enabled .Values.dashboard.tls.existingSecret }}
dashboard-tls: {{ .Values.dashboard.tls.existingSecret }}
{{- end }}
{{- if .Values.dashboard.enabled }}
{{- range $name, $secret := dict "oidc-client" .Values.dashboard.oidc.clientSecret "oidc-ca" .Values.dashboard.oidc.caSecret }}
{{- if $secret }}
{{ $name }}: {{ $secret }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.metrics.tls.enabled .Values.metrics.tls.existingSecret }}
metrics-tls: {{ .Values.metrics.tls.existingSecret }}
{{- end }}
{{- end -}}

{{- define "switchyard.certificateFlags" -}}
{{- $secrets := include "switchyard.certificateSecrets" . | fromYaml -}}
{{- $fullname := include "switchyard.fullname" . -}}
{{- if include "switchyard.ownCertificate" . }}
- --webhook-cert-secret={{ .Release.Namespace }}/{{ include "switchyard.webhookSecret" . }}
- --webhook-configuration={{ $fullname }}
{{- end }}
{{- range $name, $flag := dict "webhook-tls" "webhook-tls" "api-tls" "api" "dashboard-tls" "dashboard" "metrics-tls" "metrics" }}
{{- if hasKey $secrets $name }}
- --{{ $flag }}-cert-file=/etc/switchyard/{{ $name }}/tls.crt
- --{{ $flag }}-key-file=/etc/switchyard/{{ $name }}/tls.key
{{- end }}
{{- end }}
{{- range $door := list "api" "dashboard" }}
{{- if and (get $.Values $door).enabled (hasKey $secrets "webhook-tls") (not (hasKey $secrets (printf "%s-tls" $door))) }}
- --{{ $door }}-cert-file=/etc/switchyard/webhook-tls/tls.crt
- --{{ $door }}-key-file=/etc/switchyard/webhook-tls/tls.key
{{- end }}
{{- end }}
{{- if hasKey $secrets "oidc-client" }}
- --dashboard-oidc-client-secret-file=/etc/switchyard/oidc-client/client-secret
{{- end }}
{{- if hasKey $secrets "oidc-ca" }}
- --dashboard-oidc-ca-file=/etc/switchyard/oidc-ca/ca.crt
{{- end }}
{{- if and .Values.metrics.tls.enabled (not (hasKey $secrets "metrics-tls")) }}
{{- if hasKey $secrets "webhook-tls" }}
- --metrics-cert-file=/etc/switchyard/webhook-tls/tls.crt
- --metrics-key-file=/etc/switchyard/webhook-tls/tls.key
{{- else }}
- --metrics-own-certificate
{{- end }}
{{- end }}
{{- end -}}

{{- /*
The caBundle of a webhook configuration. What switchyard-certificates writes is left as it is found by an upgrade; nothing of it is rendered without a cluster.
Argument: root, and kind of the configuration.
*/}}
{{- define "switchyard.caBundle" -}}
{{- $root := .root -}}
{{- $tls := $root.Values.webhook.tls -}}
{{- if $tls.certManager.enabled -}}
{{- else if $tls.existingSecret -}}
{{- $secret := lookup "v1" "Secret" $root.Release.Namespace $tls.existingSecret -}}
{{- $bundle := $tls.caBundle | default (dig "data" "ca.crt" "" ($secret | default dict)) -}}
{{- if not $bundle -}}
{{- fail (printf "webhook.tls.existingSecret needs webhook.tls.caBundle, the base64 of the CA that signed it, or ca.crt in Secret %s: without one API servers trust no webhook, and every Job with a queue is refused" $tls.existingSecret) -}}
{{- end -}}
{{- $bundle -}}
{{- else -}}
{{- $present := lookup "admissionregistration.k8s.io/v1" (printf "%sWebhookConfiguration" .kind) "" (include "switchyard.fullname" $root) -}}
{{- range $index, $hook := (dig "webhooks" list ($present | default dict)) -}}
{{- if eq $index 0 -}}
{{- dig "clientConfig" "caBundle" "" $hook -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
