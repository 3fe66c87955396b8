import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Dialog } from '../../kit/dialog.tsx';
import { queryClient, userQuery } from '../../lib/queries.ts';
import { offerLoginDialog } from '../../lib/session.ts';
import { LoginForm } from './login-form.tsx';

/** When the session ends while somebody works: log in over the page, lose nothing. */
export function LoginDialog(): ReactNode {
  const [done, setDone] = useState<(loggedIn: boolean) => void>();
  useEffect(() => offerLoginDialog((finish) => setDone(() => finish)), []);
  const finish = (loggedIn: boolean): void => {
    done?.(loggedIn);
    setDone(undefined);
    if (loggedIn) void queryClient.invalidateQueries({ queryKey: userQuery.queryKey });
  };
  return (
    <Dialog
      opened={done !== undefined}
      onClose={() => finish(false)}
      title="Your session has ended"
      size={420}
      topmost
    >
      <div className="stack">
        <div>Log in again to go on. Nothing you typed is lost.</div>
        <LoginForm onDone={() => finish(true)} />
      </div>
    </Dialog>
  );
}
