import type { Call } from '../call.ts';
import { badRequest } from '../errors/iceberg-error.ts';

export interface PageAsked {
  readonly after: string;
  readonly limit: number;
}

const maxPage = 1000;

/** A caller that sends no token wants everything at once. */
export function pageAsked({ query }: Call): PageAsked {
  const token = query.get('pageToken');
  const size = query.get('pageSize');
  if (size !== null && !/^[1-9]\d{0,8}$/.test(size))
    throw badRequest('pageSize must be a whole number above 0');
  const pages = token !== null || size !== null;
  return {
    after: Buffer.from(token ?? '', 'base64url').toString(),
    limit: pages ? Math.min(maxPage, Number(size ?? maxPage)) : Infinity,
  };
}

/** The field of an answer that says where the next page begins. */
export function nextPage(next: string | undefined): { 'next-page-token'?: string } {
  return next === undefined ? {} : { 'next-page-token': Buffer.from(next).toString('base64url') };
}
