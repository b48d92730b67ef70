{{- /* What the pods of a chart have beside their program. The same file in both charts. */}}

{{- /* Those of the selector count most, and no key stands there twice. */}}
{{- define "switchyard.podLabels" -}}
{{- toYaml (merge (include "switchyard.selectorLabels" . | fromYaml) (.Values.podLabels | default dict) (.Values.commonLabels | default dict)) -}}
{{- end -}}

{{- /* The fields of a pod's spec that do not depend on its program. Without an affinity of one's own, replicas keep away from one another. */}}
{{- define "switchyard.scheduling" -}}
{{- $selector := dict "matchLabels" (include "switchyard.selectorLabels" . | fromYaml) -}}
{{- $apart := dict "podAffinityTerm" (dict "labelSelector" $selector "topologyKey" "kubernetes.io/hostname") "weight" 100 -}}
{{- $spread := dict "labelSelector" $selector "topologyKey" "topology.kubernetes.io/zone" "maxSkew" 1 "whenUnsatisfiable" "ScheduleAnyway" -}}
{{- $spec := dict "affinity" (.Values.affinity | default (dict "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" (list $apart)))) -}}
{{- $_ := set $spec "topologySpreadConstraints" (.Values.topologySpreadConstraints | default (list $spread)) -}}
{{- if .Values.hostNetwork }}
{{- $_ := set $spec "hostNetwork" true }}
{{- $_ := set $spec "dnsPolicy" "ClusterFirstWithHostNet" }}
{{- end }}
{{- range $name := list "priorityClassName" "nodeSelector" "tolerations" "imagePullSecrets" "dnsPolicy" "dnsConfig" }}
{{- with index $.Values $name }}
{{- $_ := set $spec $name . }}
{{- end }}
{{- end }}
{{- toYaml $spec -}}
{{- end -}}

{{- /* With a port of the host only one of two pods fits on a node: the old one goes first. */}}
{{- define "switchyard.strategy" -}}
{{- $rolling := ternary (dict "maxUnavailable" 1 "maxSurge" 0) (dict "maxUnavailable" 0 "maxSurge" 1) .Values.hostNetwork -}}
{{- toYaml (.Values.strategy | default (dict "type" "RollingUpdate" "rollingUpdate" $rolling)) -}}
{{- end -}}

{{- /* Alive: it answers. Ready: what it needs is there. Until it is up, only the first is asked. */}}
{{- define "switchyard.probes" -}}
{{- $scheme := ternary (dict "scheme" "HTTPS") dict .Values.metrics.tls.enabled -}}
{{- $alive := dict "httpGet" (merge (dict "path" "/healthz" "port" "metrics") $scheme) -}}
{{- $ready := dict "httpGet" (merge (dict "path" "/readyz" "port" "metrics") $scheme) -}}
startupProbe:
  {{- toYaml (merge (deepCopy .Values.startupProbe) $alive) | nindent 2 }}
livenessProbe:
  {{- toYaml (merge (deepCopy .Values.livenessProbe) $alive) | nindent 2 }}
readinessProbe:
  {{- toYaml (merge (deepCopy .Values.readinessProbe) $ready) | nindent 2 }}
{{- end -}}

{{- /* The ServiceAccount's token, where client libraries look for it. It is made anew before it expires. */}}
{{- define "switchyard.tokenVolume" -}}
name: service-account
projected:
  defaultMode: 0444
  sources:
    - serviceAccountToken:
        path: token
        expirationSeconds: {{ .Values.serviceAccount.tokenExpirationSeconds }}
    - configMap:
        name: kube-root-ca.crt
        items:
          - key: ca.crt
            path: ca.crt
    - downwardAPI:
        items:
          - path: namespace
            fieldRef:
              apiVersion: v1
              fieldPath: metadata.namespace
{{- end -}}

{{- define "switchyard.tokenMount" -}}
name: service-account
mountPath: /var/run/secrets/kubernetes.io/serviceaccount
readOnly: true
{{- end -}}

{{- /* Metadata of an object of the release, but for what comes after its name: (list root name). */}}
{{- define "switchyard.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 1 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "switchyard.labels" $root | nindent 2 }}
{{- end -}}

{{- /* What contradicts itself is not rendered: in both charts. */}}
{{- define "switchyard.podChecks" -}}
{{- range $name := list "podLabels" "commonLabels" }}
{{- range $key, $_ := index $.Values $name }}
{{- if hasKey (include "switchyard.selectorLabels" $ | fromYaml) $key }}
{{- fail (printf "%s.%s is the chart's own, by which the Deployment knows its pods: leave it out, or set nameOverride" $name $key) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $key, $_ := .Values.commonLabels }}
{{- if hasKey (include "switchyard.ownLabels" $ | fromYaml) $key }}
{{- fail (printf "commonLabels.%s is the chart's own: leave it out" $key) }}
{{- end }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled }}
{{- fail "serviceMonitor.enabled and podMonitor.enabled would have everything scraped twice: choose one" }}
{{- end }}
{{- $endpoint := .Values.podMonitor.endpoint }}
{{- if and .Values.podMonitor.enabled .Values.metrics.authentication.enabled (not (or $endpoint.authorization $endpoint.bearerTokenSecret $endpoint.oauth2)) }}
{{- fail "podMonitor.enabled needs podMonitor.endpoint.authorization, such as {credentials: {name: SECRET, key: token}}: the metrics ask for a token, and a PodMonitor takes none from a file. serviceMonitor.enabled takes that of Prometheus" }}
{{- end }}
{{- end -}}

{{- /* (list what key own more): a list of objects of which no two have the same key; the values' come after the chart's own. */}}
{{- define "switchyard.noneTwice" -}}
{{- $what := index . 0 -}}
{{- $key := index . 1 -}}
{{- $all := concat (index . 2) (index . 3) -}}
{{- $seen := dict -}}
{{- range $all }}
{{- $name := get . $key }}
{{- if hasKey $seen (toString $name) }}
{{- fail (printf "%s: %v is there twice, or is the chart's own: choose another %s" $what $name $key) }}
{{- end }}
{{- $_ := set $seen (toString $name) true }}
{{- end }}
{{- with $all }}
{{- toYaml . }}
{{- end }}
{{- end -}}
