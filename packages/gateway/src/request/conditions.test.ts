import { describe, expect, it } from 'vitest';
import { evaluateConditions, rangeStillValid } from './conditions.ts';

const object = { etag: 'abc', modifiedSeconds: Date.UTC(2026, 0, 2) / 1000 };
const now = Date.UTC(2026, 5, 1) / 1000;
const before = 'Thu, 01 Jan 2026 00:00:00 GMT';
const same = 'Fri, 02 Jan 2026 00:00:00 GMT';
const future = 'Fri, 01 Jan 2027 00:00:00 GMT';

describe('conditions of a read', () => {
  it.each([
    [{}, 'proceed'],
    [{ ifMatch: '"abc"' }, 'proceed'],
    [{ ifMatch: 'abc' }, 'proceed'],
    [{ ifMatch: '*' }, 'proceed'],
    [{ ifMatch: '"x", W/"abc"' }, 'proceed'],
    [{ ifMatch: '"x"' }, 'failed'],
    [{ ifMatch: '"abc"', ifUnmodifiedSince: before }, 'proceed'],
    [{ ifUnmodifiedSince: before }, 'failed'],
    [{ ifUnmodifiedSince: same }, 'proceed'],
    [{ ifUnmodifiedSince: 'yesterday' }, 'proceed'],
    [{ ifNoneMatch: '"abc"' }, 'not_modified'],
    [{ ifNoneMatch: '*' }, 'not_modified'],
    [{ ifNoneMatch: '"x"', ifModifiedSince: same }, 'proceed'],
    [{ ifModifiedSince: same }, 'not_modified'],
    [{ ifModifiedSince: before }, 'proceed'],
    [{ ifModifiedSince: future }, 'proceed'],
    [{ ifMatch: '"abc"', ifNoneMatch: '"abc"' }, 'not_modified'],
  ] as const)('%j: %s', (headers, outcome) => {
    const none = {
      ifMatch: undefined,
      ifNoneMatch: undefined,
      ifModifiedSince: undefined,
      ifUnmodifiedSince: undefined,
    };
    expect(evaluateConditions({ ...none, ...headers }, object, now)).toBe(outcome);
  });

  it('serve a range only of the object If-Range names', () => {
    expect(rangeStillValid(undefined, object)).toBe(true);
    expect(rangeStillValid('"abc"', object)).toBe(true);
    expect(rangeStillValid('"x"', object)).toBe(false);
    expect(rangeStillValid(same, object)).toBe(true);
    expect(rangeStillValid(before, object)).toBe(false);
  });
});
