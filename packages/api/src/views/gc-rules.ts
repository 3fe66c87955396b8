import type { GcRules } from '@svc/engine';

interface GcRulesBody {
  readonly default_retention_days: number;
  readonly branches: readonly { readonly branch_id: string; readonly retention_days: number }[];
}

export function gcRulesView(rules: GcRules) {
  return {
    default_retention_days: rules.defaultRetentionDays,
    branches: rules.branches.map(({ branch, retentionDays }) => ({
      branch_id: branch,
      retention_days: retentionDays,
    })),
  };
}

export function gcRulesOf(body: GcRulesBody): GcRules {
  return {
    defaultRetentionDays: body.default_retention_days,
    branches: body.branches.map(({ branch_id, retention_days }) => ({
      branch: branch_id,
      retentionDays: retention_days,
    })),
  };
}
