import type { ReactNode } from 'react';
import { parseNotebook } from '../lib/notebook.ts';
import type { NotebookCell, NotebookOutput } from '../lib/notebook.ts';
import { MarkdownView } from './markdown-view.tsx';
import type { MarkdownPlace } from './markdown-view.tsx';

/** One block of HTML to the Markdown parser, which ends one at a blank line; it is sanitised like any other. */
function asBlock(html: string): string {
  const lines = html.split('\n').map((line) => line.trim());
  return `<div>${lines.filter((line) => line !== '').join('\n')}</div>`;
}

function Output({ output }: { output: NotebookOutput }): ReactNode {
  switch (output.kind) {
    case 'text':
      return (
        <pre tabIndex={0} aria-label="Output" className={output.isError ? 'failed' : undefined}>
          {output.text}
        </pre>
      );
    case 'image':
      return <img src={output.source} alt="Output of the cell" />;
    case 'html':
      return <MarkdownView text={asBlock(output.html)} />;
  }
}

function Cell({ cell, place }: { cell: NotebookCell; place: MarkdownPlace }): ReactNode {
  if (cell.kind === 'markdown') return <MarkdownView text={cell.source} place={place} />;
  return (
    <div className="notebook-cell">
      <span className="mono muted small">{cell.count === undefined ? '' : `[${cell.count}]`}</span>
      <div className="grow">
        <pre tabIndex={0} aria-label="Code">
          {cell.source}
        </pre>
        {cell.outputs.map((output, index) => (
          <Output key={index} output={output} />
        ))}
      </div>
    </div>
  );
}

/** A Jupyter notebook as it was saved. Nothing in it is run. */
export function NotebookView({ text, place }: { text: string; place: MarkdownPlace }): ReactNode {
  let cells: NotebookCell[];
  try {
    cells = parseNotebook(text);
  } catch (error) {
    return (
      <div className="box-body muted">
        This is not a notebook: {error instanceof Error ? error.message : String(error)}
      </div>
    );
  }
  return (
    <div className="notebook">
      {cells.map((cell, index) => (
        <Cell key={index} cell={cell} place={place} />
      ))}
    </div>
  );
}
