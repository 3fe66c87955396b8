interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly 'x-idempotent'?: true }>>>>;
}

/** A module that names the writes an OpenAPI document calls idempotent. */
export function renderFacts(document: unknown): string {
  const writes = Object.entries((document as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation['x-idempotent'] === true)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  const lines = writes.toSorted().map((write) => `  '${write}',\n`);
  return `// Generated from docs/api/openapi.json; see README.md.

export const idempotentWrites: ReadonlySet<string> = new Set([
${lines.join('')}]);
`;
}
