/** A module that names the actions an OpenAPI document speaks of. */
export function renderActions(document: unknown): string {
  const actions = (document as { readonly 'x-actions': readonly string[] })['x-actions'];
  return `// Generated from docs/api/openapi.json; see README.md.

/** What policies can allow or deny. */
export const policyActions: readonly string[] = [
${actions.map((action) => `  '${action}',\n`).join('')}];
`;
}
