import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { expect } from 'vitest';
import { openApiDocument } from '@svc/contract';
import type { OpenApiResponse } from '@svc/contract';
import { authorization } from './start-api.ts';

const document = openApiDocument('0');
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(document, 'api');

interface DocumentedOperation {
  readonly template: string;
  readonly pattern: RegExp;
  readonly responses: Record<string, OpenApiResponse>;
}

const documented = new Map<string, DocumentedOperation[]>();
for (const [template, item] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(item)) {
    const list = documented.get(method) ?? [];
    documented.set(method, list);
    list.push({
      template,
      pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      responses: operation.responses,
    });
  }
}

/** Fails unless the answer is one the document describes: status, media type and every field. */
export function expectDocumented(
  method: string,
  path: string,
  status: number,
  contentType: string | null,
  body: string,
): void {
  const bare = path.split('?')[0] ?? '';
  const candidates = (documented.get(method.toLowerCase()) ?? []).filter(({ pattern }) => pattern.test(bare));
  const operation =
    candidates.find(({ template }) => !template.includes('{')) ??
    candidates.sort((a, b) => b.template.length - a.template.length)[0];
  if (operation === undefined) {
    // A parameter that is left empty is refused by name.
    const isEmptied = bare.includes('//') && status === 400 && body.includes('empty value is not allowed');
    if (!isEmptied) expect(status, `${method} ${bare} is not in the document`).toBe(404);
    return;
  }
  const key = String(status) in operation.responses ? String(status) : 'default';
  const response = operation.responses[key];
  const where = `${method} ${operation.template} answered ${status}`;
  expect(response, `${where}, which is not in the document`).toBeDefined();
  const mediaType = contentType?.split(';')[0]?.trim();
  if (mediaType !== 'application/json' || method === 'HEAD') return;
  // A status without a described body (429) still says why, in the shape of every error.
  const schema = response?.content?.['application/json']?.schema;
  const pointer =
    schema === undefined
      ? 'api#/components/schemas/Error'
      : `api#/paths/${escape(operation.template)}/${method.toLowerCase()}/responses/${key}/content/application~1json/schema`;
  const validate = ajv.getSchema(pointer) as ValidateFunction | undefined;
  const valid = validate?.(JSON.parse(body)) ?? false;
  expect(valid, `${where}: ${ajv.errorsText(validate?.errors)} in ${body.slice(0, 500)}`).toBe(true);
}

function escape(template: string): string {
  return encodeURIComponent(template.replaceAll('~', '~0').replaceAll('/', '~1'));
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The decoded body; tests know its shape. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface AskOptions {
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData;
  readonly headers?: Record<string, string>;
}

export type Ask = (method: string, path: string, options?: AskOptions) => Promise<Reply>;

/** Sends requests as a user and checks every answer against the OpenAPI document. */
export function checkedClient(url: string, credentials = authorization): Ask {
  return async (method, path, options = {}) => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(credentials !== '' && { authorization: credentials }),
        ...(options.json !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.json !== undefined && { body: JSON.stringify(options.json) }),
      ...(options.body !== undefined && { body: options.body }),
    });
    const text = await response.text();
    expectDocumented(method, path, response.status, response.headers.get('content-type'), text);
    let body: unknown = text;
    if (response.headers.get('content-type') === 'application/json') body = JSON.parse(text);
    return { status: response.status, headers: response.headers, text, body };
  };
}
