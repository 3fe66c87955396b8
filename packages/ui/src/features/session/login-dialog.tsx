import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { onDemand } from '../../kit/on-demand.tsx';
import { queryClient, userQuery } from '../../lib/queries.ts';
import { offerLoginDialog } from '../../lib/session.ts';
import type { LoginReason } from '../../lib/session.ts';

const LoginPrompt = onDemand(async () => (await import('./login-prompt.tsx')).LoginPrompt);

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
  return asked === undefined ? null : <LoginPrompt reason={asked.reason} onFinish={finish} />;
}
