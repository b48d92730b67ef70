{{- define "switchyard.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "switchyard.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "switchyard.selectorLabels" -}}
app.kubernetes.io/name: {{ include "switchyard.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "switchyard.ownLabels" -}}
{{ include "switchyard.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: switchyard
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "switchyard.labels" -}}
{{- toYaml (merge (include "switchyard.ownLabels" . | fromYaml) (.Values.commonLabels | default dict)) -}}
{{- end -}}

{{- define "switchyard.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "switchyard.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "switchyard.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- with .Values.image.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{- /* Who may write as a manager, and as a worker on this cluster: JSON lists, which CEL reads as well. */}}
{{- define "switchyard.managerUsers" -}}
{{- concat (list (printf "system:serviceaccount:%s:%s" .Release.Namespace (include "switchyard.serviceAccountName" .))) .Values.config.otherManagers | toJson -}}
{{- end -}}

{{- define "switchyard.localWorkerUsers" -}}
{{- if .Values.localWorker.enabled -}}
{{- if not .Values.localWorker.users -}}
{{- fail "localWorker.users must name the user that the worker on this cluster runs as, e.g. --set localWorker.users={system:serviceaccount:switchyard:switchyard-worker}: nobody else may write the status of copies" -}}
{{- end -}}
{{- .Values.localWorker.users | toJson -}}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{- define "switchyard.matchConditions" -}}
{{- $managers := include "switchyard.managerUsers" .root -}}
{{- $workers := include "switchyard.localWorkerUsers" .root -}}
{{- $kueue := .root.Values.config.kueueQueueLabel -}}
{{- range .conditions }}
- name: {{ .name }}
  expression: {{ .expression | replace "variables.managers" $managers | replace "variables.localWorkers" $workers | replace "variables.kueueQueueLabel" (toString $kueue) | toRawJson }}
{{- end }}
{{- end -}}

{{- /* Where the manager creates Jobs by rights of its own, as a JSON list: for the shared queue, for SubmissionQueues that have its identity, and as canaries. */}}
{{- define "switchyard.creationNamespaces" -}}
{{- $namespaces := ternary .Values.config.submissionNamespaces list (ne .Values.config.submissionQueue "") -}}
{{- if .Values.config.allowManagerIdentity -}}
{{- $namespaces = append $namespaces "*" -}}
{{- end -}}
{{- if and .Values.canary.queue (regexMatch "[1-9]" (toString .Values.canary.interval)) -}}
{{- $namespaces = append $namespaces (splitList "/" .Values.canary.queue | first) -}}
{{- end -}}
{{- $namespaces | uniq | toJson -}}
{{- end -}}

{{- /* Whether the namespace of a request is among the denied ones of an installation, but for kube-*, which rules of their own are about: a CEL expression, whole names first; empty: there are no others. */}}
{{- define "switchyard.inDeniedNamespace" -}}
{{- $names := list -}}
{{- $terms := list -}}
{{- range without .Values.config.deniedNamespaces "kube-*" -}}
{{- if hasSuffix "*" . -}}
{{- $terms = append $terms (printf "request.namespace.startsWith(%s)" (trimSuffix "*" . | toJson)) -}}
{{- else -}}
{{- $names = append $names . -}}
{{- end -}}
{{- end -}}
{{- if $names -}}
{{- $terms = prepend $terms (printf "request.namespace in %s" (toJson $names)) -}}
{{- end -}}
{{- join " || " $terms -}}
{{- end -}}

{{/*
Rules of a webhook or policy for described kinds: those of `kinds` and `ownKinds`. Their objects are prepared and judged like Jobs. `kind`:
Mutating, Validating, or OwnAccount for what the manager's own account writes, deletions included.
*/}}
{{- define "switchyard.kindRules" -}}
{{- $names := list -}}
{{- range $path, $_ := .root.Files.Glob "files/kinds/*.yaml" -}}
{{- $each := ($.root.Files.Get $path | fromYaml).spec -}}
{{- if has $each.kind $.root.Values.kinds -}}
{{- $names = append $names (printf "%s.%s" $each.resource $each.group) -}}
{{- end -}}
{{- end -}}
{{- $rules := list -}}
{{- range uniq (concat $names .root.Values.ownKinds) -}}
{{- $group := regexReplaceAll "^[^.]+[.]" . "" -}}
{{- $resource := regexFind "^[^.]+" . -}}
{{- $operations := get (dict "Mutating" (list "CREATE") "Validating" (list "CREATE" "UPDATE") "OwnAccount" (list "CREATE" "UPDATE" "DELETE")) $.kind -}}
{{- $rules = append $rules (dict "apiGroups" (list $group) "apiVersions" (list "*") "scope" "Namespaced" "resources" (list $resource) "operations" $operations) -}}
{{- if ne $.kind "Mutating" -}}
{{- $rules = append $rules (dict "apiGroups" (list $group) "apiVersions" (list "*") "scope" "Namespaced" "resources" (list (printf "%s/status" $resource)) "operations" (list "UPDATE")) -}}
{{- end -}}
{{- end -}}
{{ toYaml $rules }}
{{- end -}}
