import { arn, one } from '@svc/auth';
import type { Answer, Call } from './call.ts';
import { badRequest } from './errors/iceberg-error.ts';
import { decoded } from './request/decoded.ts';

const prefixStart = 'r.';

/**
 * The part of the path that names a warehouse. Nothing else begins like it, and names of repositories have no dot.
 */
export function prefixOf([repository, ref]: readonly string[]): string {
  if (repository === undefined) return '';
  return prefixStart + repository + (ref === undefined ? '' : `.${encodeURIComponent(ref)}`);
}

/** Undefined when the text is no prefix. */
export function readPrefix(text: string): readonly string[] | undefined {
  if (!text.startsWith(prefixStart)) return undefined;
  const [repository = '', ...ref] = text.slice(prefixStart.length).split('.');
  if (ref.length === 0) return [repository];
  // Some clients encode what we have encoded; no ref has a percent sign.
  const name = ref.join('.');
  return [repository, decoded(name)];
}

/** `lake`, `lake/main`, or either as a URI. */
export function readWarehouse(text: string): readonly string[] {
  const [repository = '', ...ref] = text
    .replace(/^[a-z0-9]+:\/\//, '')
    .replace(/\/$/, '')
    .split('/');
  if (repository === '') return [];
  if (!/^[a-z0-9][a-z0-9-]{2,62}$/.test(repository) || ref.length > 1) {
    throw badRequest(
      `warehouse ${JSON.stringify(text)} must be <repository> or <repository>/<ref>, or be left out`,
    );
  }
  return [repository, ...ref];
}

export async function getConfig(call: Call, endpoints: readonly string[]): Promise<Answer> {
  const warehouse = readWarehouse(call.query.get('warehouse') ?? '');
  const [repository, ref] = warehouse;
  if (repository !== undefined) await checkWarehouse(call, repository, ref);
  const overrides = repository === undefined ? {} : { prefix: prefixOf(warehouse) };
  return { status: 200, body: { defaults: {}, overrides, endpoints } };
}

/** A wrong name is told at once to those who may know. */
async function checkWarehouse({ services, identity, client }: Call, repository: string, ref?: string) {
  const { engine, auth } = services;
  const requirement = one('fs:ReadRepository', arn.repository(repository));
  if (!(await auth.authorize(identity, requirement, client)).allowed) return;
  await engine.repositories.get(repository);
  if (ref !== undefined) await engine.refs.resolve({ repository, ref });
}
