import type { ReactNode } from 'react';
import { Dialog } from '../../kit/dialog.tsx';
import type { LoginReason } from '../../lib/session.ts';
import { LoginForm } from './login-form.tsx';

/** The login over a page. */
export function LoginPrompt({
  reason,
  onFinish,
}: {
  reason: LoginReason;
  onFinish: (loggedIn: boolean) => void;
}): ReactNode {
  return (
    <Dialog
      opened
      onClose={() => onFinish(false)}
      title={reason === 'ending' ? 'Renew your session' : 'Your session has ended'}
      size={420}
      topmost
    >
      <div className="stack">
        <div>Log in again to go on. Nothing you typed is lost.</div>
        <LoginForm onDone={() => onFinish(true)} />
      </div>
    </Dialog>
  );
}
