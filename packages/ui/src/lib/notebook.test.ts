import { expect, test } from 'vitest';
import { parseNotebook } from './notebook.ts';

const parse = (...outputs: object[]) =>
  parseNotebook(JSON.stringify({ cells: [{ cell_type: 'code', source: ['a\n', 'b'], outputs }] }))[0];

test('cells keep their source and the best form of each output', () => {
  expect(parse()).toEqual({ kind: 'code', source: 'a\nb', count: undefined, outputs: [] });
  const shown = parse(
    { output_type: 'stream', name: 'stderr', text: 'careful' },
    { output_type: 'error', traceback: ['\u001B[31mboom\u001B[0m'] },
    { output_type: 'display_data', data: { 'text/plain': 'x', 'image/png': 'QUJD\n' } },
    { output_type: 'execute_result', data: { 'text/plain': 'x', 'text/html': ['<b>', 'x</b>'] } },
    { output_type: 'unheard of' },
  );
  expect(shown?.outputs).toEqual([
    { kind: 'text', text: 'careful', isError: true },
    { kind: 'text', text: 'boom', isError: true },
    { kind: 'image', source: 'data:image/png;base64,QUJD' },
    { kind: 'html', html: '<b>x</b>' },
  ]);
});

test('text that is not a notebook is refused', () => {
  expect(() => parseNotebook('[]')).toThrow('no list of cells');
  expect(() => parseNotebook('{')).toThrow(SyntaxError);
});
