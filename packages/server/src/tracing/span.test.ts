import { expect, test } from 'vitest';
import { parseTraceparent } from './span.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

test('a traceparent is read as W3C says', () => {
  expect(parseTraceparent(`00-${trace}-${span}-01`)).toEqual({
    traceId: trace,
    spanId: span,
    isSampled: true,
  });
  expect(parseTraceparent(`00-${trace}-${span}-00`)?.isSampled).toBe(false);
  expect(parseTraceparent(`cc-${trace}-${span}-09-what-the-future-brings`)?.isSampled).toBe(true);
});

test.each([
  undefined,
  '',
  `ff-${trace}-${span}-01`,
  `00-${trace}-${span}-01-more`,
  `00-${'0'.repeat(32)}-${span}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
])('what is none begins a new trace: %s', (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});
