import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { appearance, readOnly } from './code-view.tsx';

/** The difference of two texts, in one column or side by side. */
export function TextDiff({
  before,
  after,
  split,
}: {
  before: string;
  after: string;
  split: boolean;
}): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current === null) return undefined;
    const label = (text: string) => EditorView.contentAttributes.of({ 'aria-label': text });
    const extensions = [appearance, readOnly, EditorView.lineWrapping];
    if (split) {
      const view = new MergeView({
        parent: host.current,
        a: { doc: before, extensions: [...extensions, label('Before')] },
        b: { doc: after, extensions: [...extensions, label('After')] },
        collapseUnchanged: { margin: 3, minSize: 6 },
        gutter: true,
      });
      return () => view.destroy();
    }
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: after,
        extensions: [
          ...extensions,
          label('Difference'),
          unifiedMergeView({
            original: before,
            mergeControls: false,
            collapseUnchanged: { margin: 3, minSize: 6 },
            syntaxHighlightDeletions: false,
          }),
        ],
      }),
    });
    return () => view.destroy();
  }, [before, after, split]);
  return <div className="diff-scroll" ref={host} />;
}
