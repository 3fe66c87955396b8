import { badRequest } from '../errors/iceberg-error.ts';

/** A part of a path without percent signs. */
export function decoded(text: string): string {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text;
  } catch {
    throw badRequest('the path is not validly encoded');
  }
}
