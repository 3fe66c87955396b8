/** A beginning for each kind of hook. */
export const templates = {
  webhook: `name: tell my service
on:
  post-commit:
    branches: [main]
hooks:
  - id: tell
    type: webhook
    properties:
      url: https://example.net/hook
      timeout: 30s
      headers:
        Authorization: "Bearer {{ ENV.SVCACTION_TOKEN }}"
`,
  airflow: `name: start a DAG
on:
  post-merge:
    branches: [main]
hooks:
  - id: start_dag
    type: airflow
    properties:
      url: https://airflow.example.net
      dag_id: my_dag
      username: svc
      password: "{{ ENV.SVCACTION_AIRFLOW_PASSWORD }}"
      wait_for_dag: false
`,
  lua: `name: only parquet under tables
on:
  pre-merge:
    branches: [main]
hooks:
  - id: check_formats
    type: lua
    properties:
      script: |
        local svc, strings, hook = require("svc"), require("strings"), require("hook")
        local code, page = svc.diff_refs(action.repository_id, action.branch_id, action.source_ref, "", "tables/")
        for _, change in ipairs(page.results) do
          if change.type ~= "removed" and not strings.has_suffix(change.path, ".parquet") then
            hook.fail(change.path .. " is not a Parquet file")
          end
        end
`,
} as const;

export type TemplateKind = keyof typeof templates;
