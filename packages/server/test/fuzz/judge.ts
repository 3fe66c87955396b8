import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument, type OpenApiOperation } from '@svc/contract';
import { Ajv, type ValidateFunction } from 'ajv';
import { SaxesParser } from 'saxes';
import type { WireAnswer } from './answer-reader.ts';
import type { Caller } from './callers.ts';
import type { FuzzRequest } from './fuzz-request.ts';
import { injectedHeader } from './hostile-values.ts';
import { secretContent } from './known-values.ts';

const document = openApiDocument('0');
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(document, 'api');

interface Documented extends OpenApiOperation {
  readonly pointer: string;
}

const documented = new Map<string, Documented>();
for (const [path, item] of Object.entries(document.paths))
  for (const [method, operation] of Object.entries(item)) {
    const pointer = `api#/paths/${encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))}/${method}`;
    documented.set(operation.operationId, { ...operation, pointer });
  }

/** What each stock group may do, held by the authorization matrix. */
const allowedGroups = JSON.parse(
  readFileSync(join(import.meta.dirname, '../authorization-matrix-groups.json'), 'utf8'),
) as Record<string, string>;

/** What is wrong with an answer, as far as one answer can tell. */
export function judge(
  request: FuzzRequest,
  caller: Caller,
  answer: WireAnswer,
  secrets: readonly string[],
): string[] {
  const isKnown = caller.rank !== 'stranger' && request.proof === 'right';
  const found = [...judgeForm(request, answer, isKnown), ...judgeAccess(request, caller, answer)];
  const text = answer.body.toString('latin1');
  const heads = [...answer.headers.values()].flat().join('\n');
  for (const [index, secret] of secrets.entries())
    if (text.includes(secret) || heads.includes(secret))
      found.push(`secret ${index} of the run is in the answer`);
  if (!caller.readsSecret && text.includes(secretContent)) found.push('the denied content is in the answer');
  if (answer.headers.has(injectedHeader)) found.push('a header of the caller was injected');
  return found;
}

function judgeForm(request: FuzzRequest, answer: WireAnswer, isKnown: boolean): string[] {
  const { status } = answer;
  // S3 has no other way to say that somebody fails too often.
  const isSlowedDown = status === 503 && !isKnown && request.surface === 's3';
  if (status >= 500 && !isSlowedDown && !isDocumented501(request, status))
    return [`status ${status}: ${answer.body.toString().slice(0, 300)}`];
  const mediaType = answer.headers.get('content-type')?.[0]?.split(';')[0]?.trim();
  const isObject = status < 300 && /^(getObject|getMetadataObject)$/.test(request.operation);
  if (answer.body.length === 0 || isObject) return [];
  if (mediaType === 'application/json') return judgeJson(request, answer);
  if (mediaType === 'application/xml' || mediaType === 'text/xml') return judgeXml(answer.body.toString());
  return [];
}

/** Features that an installation may lack, or that nobody has. */
const notAvailable: ReadonlySet<string> = new Set([
  'oauthCallback',
  'externalPrincipalLogin',
  'createUserExternalPrincipal',
  'deleteUserExternalPrincipal',
  'listUserExternalPrincipals',
  'getExternalPrincipal',
  'stsLogin',
  // By mail.
  'createUser',
  // Shallow.
  'copyObject',
  'createPresignMultipartUpload',
  'completePresignMultipartUpload',
  'abortPresignMultipartUpload',
  'uploadPart',
  'uploadPartCopy',
]);

function isDocumented501({ surface, operation }: FuzzRequest, status: number): boolean {
  if (status !== 501) return false;
  if (surface === 's3' || notAvailable.has(operation)) return true;
  return '501' in (documented.get(operation)?.responses ?? {});
}

function judgeJson(request: FuzzRequest, { status, body }: WireAnswer): string[] {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return ['the answer is called JSON, but is none'];
  }
  const operation = documented.get(request.operation);
  if (request.surface !== 'api' || operation === undefined || isUnrouted(value)) return [];
  const key = String(status) in operation.responses ? String(status) : 'default';
  const response = operation.responses[key];
  if (response === undefined)
    return [`status ${status} is not in the document: ${body.toString().slice(0, 200)}`];
  const schema = response.content?.['application/json']?.schema;
  const pointer =
    schema === undefined
      ? 'api#/components/schemas/Error'
      : `${operation.pointer}/responses/${key}/content/application~1json/schema`;
  const validate = ajv.getSchema(pointer) as ValidateFunction | undefined;
  if (validate?.(value) === true) return [];
  return [`status ${status}: ${ajv.errorsText(validate?.errors)} in ${body.toString().slice(0, 300)}`];
}

/** A hostile path may lead to another operation, or to none. */
function isUnrouted(value: unknown): boolean {
  const { message } = (value ?? {}) as { message?: unknown };
  return message === 'the path is not validly encoded' || message === 'invalid API endpoint';
}

function judgeXml(text: string): string[] {
  const parser = new SaxesParser();
  let fault: string | undefined;
  parser.on('error', (error) => (fault ??= error.message));
  // Keys may hold characters that XML 1.0 does not have; S3 writes them as references all the same.
  parser.write(text.replaceAll(/&#x(?:[01]?[0-9A-F]|FFF[EF]);/g, '')).close();
  return fault === undefined ? [] : [`the answer is no XML: ${fault}`];
}

function judgeAccess(request: FuzzRequest, caller: Caller, { status, body }: WireAnswer): string[] {
  if (status >= 400 || request.framing === 'wild') return [];
  const open = documented.get(request.operation)?.security !== undefined && request.surface === 'api';
  if (open) return [];
  const proven = caller.rank !== 'stranger' && request.proof === 'right';
  if (!proven) return [`${status} for somebody who is not to be let in`];
  if (request.surface === 's3') {
    const reads = /^(GET|HEAD)$/.test(request.method);
    const allowed = caller.rank === 'nobody' ? false : caller.rank !== 'Viewers' || reads;
    return allowed || isRefusedByKey(request, body) ? [] : [`${status} for ${caller.rank}, who may not`];
  }
  const groups = allowedGroups[request.operation];
  if (groups === undefined || caller.rank === 'denied' || request.operation === 'deleteObjects') return [];
  if (groups.split(' ').includes(caller.rank)) return [];
  // Any user, whatever their rights.
  const permission = documented.get(request.operation)?.['x-permission'] as { type?: string } | undefined;
  if (permission?.type === 'authenticated') return [];
  return [`${status} for ${caller.rank}, who may not`];
}

/** A bulk deletion answers for each key; one without a path (`main`) is never there, so that it is gone for all. */
function isRefusedByKey({ operation }: FuzzRequest, body: Buffer): boolean {
  return operation === 'deleteObjects' && !/<Deleted><Key>\/?[^</]*\/[^<]/.test(body.toString());
}
