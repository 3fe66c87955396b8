import { expect, test } from 'vitest';
import { httpTime } from './entry-headers.ts';

const day = 86_400;
const edges = [0, 59, 60, 3599, 3600, day - 1, day, -1, -day, -day - 1, 784_111_777, 253_402_300_799];

test.each([...edges, ...edges.map((seconds) => seconds + 31 * day)])('the HTTP time of %i', (seconds) => {
  expect(httpTime({ seconds, nanos: 0 })).toBe(new Date(seconds * 1000).toUTCString());
});
