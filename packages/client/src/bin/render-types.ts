import openapiTypescript, { astToString } from 'openapi-typescript';

/** The TypeScript types of an OpenAPI document. */
export async function renderTypes(document: unknown): Promise<string> {
  const nodes = await openapiTypescript(document as Parameters<typeof openapiTypescript>[0], {
    alphabetize: true,
    defaultNonNullable: false,
  });
  return `// Generated from docs/api/openapi.json; see README.md.\n\n${astToString(nodes)}`;
}
