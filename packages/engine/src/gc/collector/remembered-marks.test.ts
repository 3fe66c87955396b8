import { expect, it } from 'vitest';
import { RememberedMarks } from './remembered-marks.ts';

it('forgets what came first when there is no room, and nothing else', () => {
  const remembered = new RememberedMarks(100);
  const range = (numbers: number) => ({ marks: new Uint32Array(numbers), bytes: 0 });
  const there = (): string => ['a', 'b', 'c', 'd'].filter((id) => remembered.get(id) !== undefined).join('');
  remembered.add('a', range(10));
  remembered.add('b', range(10));
  remembered.add('c', range(5));
  expect(there()).toBe('abc');
  remembered.get('a');
  remembered.add('d', range(1));
  expect(there()).toBe('bcd');
  remembered.add('a', range(100));
  expect(there()).toBe('');
});
