import { expect, test } from 'vitest';
import { planParts } from './part-plan.ts';

const mebibyte = 1024 * 1024;

test('plans 5 MiB parts, and larger ones where there would be too many', () => {
  expect(planParts(12 * mebibyte)).toEqual({ partSize: 5 * mebibyte, parts: 3 });
  expect(planParts(60 * 1024 * mebibyte)).toEqual({ partSize: 6_442_451, parts: 10_000 });
  expect(planParts(5 * mebibyte)).toEqual({ partSize: 5 * mebibyte, parts: 1 });
});
