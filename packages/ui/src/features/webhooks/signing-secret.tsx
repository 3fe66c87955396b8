import type { ReactNode } from 'react';
import { CopyButton, Notice } from '../../kit/basics.tsx';
import { SecretDialog } from '../../kit/secret-dialog.tsx';

/** The secret that signs deliveries, shown this once. */
export function SigningSecret({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  return (
    <SecretDialog title="Signing secret" onClose={onClose}>
      <Notice kind="warn" title="Save the secret now">
        It is shown only this once. The receiver checks signatures with it, using any library of Standard
        Webhooks.
      </Notice>
      <div className="row nowrap">
        <code className="wrap">{secret}</code> <CopyButton text={secret} label="Copy signing secret" />
      </div>
    </SecretDialog>
  );
}
