import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { filesOfDrop } from './picked-files.ts';
import type { PickedFile } from './picked-files.ts';

/** Files may be dropped anywhere on the page. */
export function PageDrop({ onFiles }: { onFiles: (files: PickedFile[]) => void }): ReactNode {
  const [over, setOver] = useState(false);
  const handler = useRef(onFiles);
  handler.current = onFiles;
  useEffect(() => {
    let depth = 0;
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;
    const onEnter = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth++;
      setOver(true);
    };
    const onLeave = (): void => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const onOver = (event: DragEvent): void => {
      if (hasFiles(event)) event.preventDefault();
    };
    const onDrop = (event: DragEvent): void => {
      depth = 0;
      setOver(false);
      if (event.dataTransfer === null || !hasFiles(event)) return;
      event.preventDefault();
      void filesOfDrop(event.dataTransfer).then((files) => handler.current(files));
    };
    document.addEventListener('dragenter', onEnter);
    document.addEventListener('dragleave', onLeave);
    document.addEventListener('dragover', onOver);
    document.addEventListener('drop', onDrop);
    return () => {
      document.removeEventListener('dragenter', onEnter);
      document.removeEventListener('dragleave', onLeave);
      document.removeEventListener('dragover', onOver);
      document.removeEventListener('drop', onDrop);
    };
  }, []);
  return over ? (
    <div className="page-drop" aria-hidden>
      <div>Drop to upload</div>
    </div>
  ) : null;
}
