import type { TSchema } from 'typebox';
import { ErrorBody } from './models/common.ts';
import { binary } from './models/values.ts';
import type { ResponseSpec } from './operation.ts';

export function json<S extends TSchema>(
  schema: S,
  headers: readonly string[] = [],
): { readonly content: { readonly 'application/json': S }; readonly headers: readonly string[] } {
  return { content: { 'application/json': schema }, headers };
}

export function empty(headers: readonly string[] = []): {
  readonly content: Readonly<Record<string, never>>;
  readonly headers: readonly string[];
} {
  return { content: {}, headers };
}

export function bytes(headers: readonly string[] = []): ResponseSpec {
  return { content: { 'application/octet-stream': binary }, headers };
}

export const archive: ResponseSpec = { content: { 'application/zip': binary }, headers: [] };

const errorAnswer = json(ErrorBody);

/** By their statuses. V8 makes room for every number below: without sharing, all operations together took 1 MB. */
const refusals = new Map<string, Readonly<Record<string, ResponseSpec>>>();

/** The refusals an operation documents. 429 has no body of its own; `default` covers every other status. */
export function errors(...statuses: readonly (number | 'default')[]): Readonly<Record<string, ResponseSpec>> {
  const name = statuses.join(' ');
  const known = refusals.get(name);
  if (known !== undefined) return known;
  const answers: Record<string, ResponseSpec> = {};
  for (const status of statuses) answers[status] = status === 429 ? empty() : errorAnswer;
  refusals.set(name, answers);
  return answers;
}

/** A JSON request body. */
export function body<S extends TSchema>(
  schema: S,
): { readonly required: true; readonly content: { readonly 'application/json': S } } {
  return { required: true, content: { 'application/json': schema } };
}

export function optionalBody<S extends TSchema>(
  schema: S,
): { readonly required: false; readonly content: { readonly 'application/json': S } } {
  return { required: false, content: { 'application/json': schema } };
}

/** A body that is required although its description has always called it optional. */
export function bodyShownOptional<S extends TSchema>(
  schema: S,
): {
  readonly required: true;
  readonly shownOptional: true;
  readonly content: { readonly 'application/json': S };
} {
  return { required: true, shownOptional: true, content: { 'application/json': schema } };
}
