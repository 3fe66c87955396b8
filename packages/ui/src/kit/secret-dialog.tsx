import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';

/** Shows what is never shown again, until somebody says that it is saved. */
export function SecretDialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}): ReactNode {
  return (
    <Dialog opened firm title={title} onClose={onClose}>
      <div className="stack">
        {children}
        <div className="row end">
          <Button onClick={onClose}>I have saved it</Button>
        </div>
      </div>
    </Dialog>
  );
}
