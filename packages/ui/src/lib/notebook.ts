export type NotebookOutput =
  | { readonly kind: 'text'; readonly text: string; readonly isError: boolean }
  | { readonly kind: 'image'; readonly source: string }
  | { readonly kind: 'html'; readonly html: string };

export interface NotebookCell {
  readonly kind: 'markdown' | 'code' | 'raw';
  readonly source: string;
  readonly count: number | undefined;
  readonly outputs: readonly NotebookOutput[];
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Notebooks keep text as one string or as a list of lines. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : '';
}

// Escape codes that colour text on a terminal.
// oxlint-disable-next-line no-control-regex
const terminalCodes = /\u001B\[[\d;]*m/g;

function outputOf(output: unknown): NotebookOutput | undefined {
  if (!isObject(output)) return undefined;
  switch (output['output_type']) {
    case 'stream':
      return { kind: 'text', text: textOf(output['text']), isError: output['name'] === 'stderr' };
    case 'error': {
      const trace = Array.isArray(output['traceback']) ? output['traceback'].join('\n') : '';
      return { kind: 'text', text: trace.replace(terminalCodes, ''), isError: true };
    }
    case 'display_data':
    case 'execute_result': {
      const data = isObject(output['data']) ? output['data'] : {};
      for (const type of ['image/png', 'image/jpeg', 'image/gif']) {
        const bytes = textOf(data[type]).replaceAll(/\s/g, '');
        if (bytes !== '') return { kind: 'image', source: `data:${type};base64,${bytes}` };
      }
      const html = textOf(data['text/html']);
      if (html !== '') return { kind: 'html', html };
      return { kind: 'text', text: textOf(data['text/plain']), isError: false };
    }
    default:
      return undefined;
  }
}

/** The cells of a Jupyter notebook; throws when the text is not one. */
export function parseNotebook(text: string): NotebookCell[] {
  const notebook: unknown = JSON.parse(text);
  const cells = isObject(notebook) ? notebook['cells'] : undefined;
  if (!Array.isArray(cells)) throw new Error('it has no list of cells');
  return cells.filter(isObject).map((cell) => {
    const kind = cell['cell_type'];
    const count = cell['execution_count'];
    const outputs = Array.isArray(cell['outputs']) ? cell['outputs'] : [];
    return {
      kind: kind === 'markdown' || kind === 'code' ? kind : 'raw',
      source: textOf(cell['source']),
      count: typeof count === 'number' ? count : undefined,
      outputs: outputs.map(outputOf).filter((output) => output !== undefined),
    };
  });
}
