{{- define "svc.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "svc.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "svc.selectorLabels" -}}
app: {{ include "svc.name" . }}
app.kubernetes.io/name: {{ include "svc.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "svc.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "svc.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* The configuration file; a value may also be given as a map. */}}
{{- define "svc.config" -}}
{{- $config := .Values.svcConfig | default .Values.lakefsConfig -}}
{{- if kindIs "map" $config -}}
{{- toYaml $config -}}
{{- else if $config -}}
{{- if hasKey (fromYaml $config) "Error" -}}
{{- fail (printf "svcConfig is no YAML: %s" (get (fromYaml $config) "Error")) -}}
{{- end -}}
{{- $config -}}
{{- end -}}
{{- end -}}

{{- define "svc.databaseType" -}}
{{- dig "database" "type" "" (fromYaml (include "svc.config" .) | default dict) -}}
{{- end -}}

{{- define "svc.secretName" -}}
{{- .Values.existingSecret | default (include "svc.fullname" .) -}}
{{- end -}}

{{/* Of the values, else what the release already has, else a new one. */}}
{{- define "svc.keptSecret" -}}
{{- $context := index . 0 -}}
{{- $key := index . 1 -}}
{{- $given := get $context.Values.secrets $key -}}
{{- if $given -}}
{{- $given -}}
{{- else -}}
{{- $old := lookup "v1" "Secret" $context.Release.Namespace (include "svc.fullname" $context) -}}
{{- if and $old (hasKey ($old.data | default dict) $key) -}}
{{- index $old.data $key | b64dec -}}
{{- else -}}
{{- randAlphaNum 48 -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "svc.connectionString" -}}
{{- if .Values.secrets.databaseConnectionString -}}
{{- .Values.secrets.databaseConnectionString -}}
{{- else if .Values.useDevPostgres -}}
postgres://svc:svc@{{ include "svc.fullname" . }}-postgres:5432/svc?sslmode=disable
{{- end -}}
{{- end -}}

{{- define "svc.serviceAccountName" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "svc.fullname" . -}}
{{- end -}}
{{- end -}}

{{/* Which keys of the secret become which variables. */}}
{{- define "svc.secretEnv" -}}
{{- $names := dict "databaseConnectionString" "SVC_DATABASE_POSTGRES_CONNECTION_STRING" "authEncryptSecretKey" "SVC_AUTH_ENCRYPT_SECRET_KEY" "blockstoreSigningSecretKey" "SVC_BLOCKSTORE_SIGNING_SECRET_KEY" -}}
{{- range $key := list "databaseConnectionString" "authEncryptSecretKey" "blockstoreSigningSecretKey" }}
{{- $inOwn := "" }}
{{- if $.Values.existingSecret }}
{{- $inOwn = get $.Values.secretKeys $key }}
{{- end }}
{{- if $inOwn }}
- name: {{ get $names $key }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.existingSecret }}
      key: {{ $inOwn }}
{{- else if or (ne $key "databaseConnectionString") (include "svc.connectionString" $) }}
- name: {{ get $names $key }}
  valueFrom:
    secretKeyRef:
      name: {{ include "svc.fullname" $ }}
      key: {{ $key }}
{{- end }}
{{- end }}
{{- end -}}
