import type { Statement } from './api.ts';

export type ParsedPolicy = { readonly statement: Statement[] } | { readonly problem: string };

/** Parses a typed policy and explains what is wrong with it. */
export function parsePolicy(text: string): ParsedPolicy {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `Not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const list = Array.isArray(value) ? value : (value as { statement?: unknown } | null)?.statement;
  if (!Array.isArray(list) || list.length === 0)
    return { problem: 'A policy needs "statement": a list with at least one statement' };
  for (const [index, entry] of list.entries()) {
    const { effect, action, resource, principal } = entry as Partial<Record<string, unknown>>;
    const at = `Statement ${index + 1}`;
    if (effect !== 'allow' && effect !== 'deny')
      return { problem: `${at}: "effect" must be "allow" or "deny"` };
    if (!Array.isArray(action) || action.length === 0 || action.some((one) => typeof one !== 'string')) {
      return { problem: `${at}: "action" must be a list of actions such as "fs:ReadObject"` };
    }
    if (typeof resource !== 'string' || resource === '')
      return { problem: `${at}: "resource" must be "*" or an ARN` };
    if (principal !== undefined && JSON.stringify(principal) !== '["anonymous"]')
      return { problem: `${at}: "principal" must be ["anonymous"] or left out` };
  }
  return { statement: list as Statement[] };
}

export const examplePolicy = `{
  "statement": [
    {
      "effect": "allow",
      "action": ["fs:Read*", "fs:List*"],
      "resource": "arn:svc:fs:::repository/*"
    }
  ]
}
`;
