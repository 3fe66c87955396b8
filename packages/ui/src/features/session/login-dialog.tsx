import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Dialog } from '../../kit/dialog.tsx';
import { queryClient, userQuery } from '../../lib/queries.ts';
import { offerLoginDialog } from '../../lib/session.ts';
import type { LoginReason } from '../../lib/session.ts';
import { LoginForm } from './login-form.tsx';

interface Asked {
  readonly reason: LoginReason;
  readonly done: (loggedIn: boolean) => void;
}

/** Lets the user log in over the page when the session ends, so that no work is lost. */
export function LoginDialog(): ReactNode {
  const [asked, setAsked] = useState<Asked>();
  useEffect(() => offerLoginDialog((reason, done) => setAsked({ reason, done })), []);
  const finish = (loggedIn: boolean): void => {
    asked?.done(loggedIn);
    setAsked(undefined);
    if (loggedIn) void queryClient.invalidateQueries({ queryKey: userQuery.queryKey });
  };
  return (
    <Dialog
      opened={asked !== undefined}
      onClose={() => finish(false)}
      title={asked?.reason === 'ending' ? 'Renew your session' : 'Your session has ended'}
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
