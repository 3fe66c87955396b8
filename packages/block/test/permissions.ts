import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeenRequest } from '@svc/testing';
import { expect } from 'vitest';

const folder = join(import.meta.dirname, '../../../docs/deployment');

/** What a request needs to be allowed, by the documentation of its service. */
export type Needs = (request: {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: SeenRequest['headers'];
}) => readonly string[];

/** Holds a page to what an adapter asks for: it names every permission that is needed, and no other. */
export function expectDocumented(
  page: string,
  named: RegExp,
  seen: readonly SeenRequest[],
  needs: Needs,
  more: readonly string[] = [],
): void {
  const used = new Set(more);
  for (const { method, url, headers } of seen) {
    const { pathname: path, searchParams: query } = new URL(url, 'http://store');
    for (const permission of needs({ method, path, query, headers })) used.add(permission);
  }
  const documented = readFileSync(join(folder, page), 'utf8').match(named) ?? [];
  expect([...new Set(documented)].sort()).toEqual([...used].sort());
}

export const s3Needs: Needs = ({ method, path, query, headers }) => {
  const isObject = /^\/[^/]+\/./.test(path);
  if (!isObject) {
    if (method === 'POST') return ['s3:DeleteObject'];
    return query.has('uploads') ? ['s3:ListBucketMultipartUploads'] : ['s3:ListBucket'];
  }
  if (method === 'DELETE') return query.has('uploadId') ? ['s3:AbortMultipartUpload'] : ['s3:DeleteObject'];
  if (method === 'GET' || method === 'HEAD') return ['s3:GetObject'];
  return headers['x-amz-copy-source'] === undefined ? ['s3:PutObject'] : ['s3:PutObject', 's3:GetObject'];
};

const blobs = 'Microsoft.Storage/storageAccounts/blobServices/containers/blobs';

export const azureNeeds: Needs = ({ method, query }) => {
  if (method === 'GET' || method === 'HEAD') return [`${blobs}/read`];
  if (method === 'DELETE' || query.get('comp') === 'batch') return [`${blobs}/delete`];
  return [`${blobs}/write`];
};

export const gsNeeds: Needs = ({ method, path }) => {
  const need = (...names: string[]): string[] => names.map((name) => `storage.objects.${name}`);
  if (path.startsWith('/batch/') || method === 'DELETE') return need('delete');
  if (method === 'GET') return path.endsWith('/o') ? need('list') : need('get');
  // Replacing an object deletes the one before; joining and copying read their sources.
  return /\/(compose|rewriteTo\/.*)$/.test(path) ? need('create', 'delete', 'get') : need('create', 'delete');
};
