import { Button, Checkbox, TextInput } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useMutation } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Notice, usePageTitle } from '../../kit/basics.tsx';
import { SecretCard } from '../../kit/secret-card.tsx';
import { anonymousClient } from '../../lib/api.ts';
import { logIn } from '../../lib/login.ts';
import { safeNext } from '../../lib/next-path.ts';
import { queryClient } from '../../lib/queries.ts';
import { Logo } from '../shell/top-bar.tsx';

const isPlainRemote = (): boolean =>
  globalThis.location.protocol === 'http:' && !/^(localhost|127\.|\[::1\])/.test(globalThis.location.host);

export function SetupPage(): ReactNode {
  usePageTitle('Set up');
  const { next } = useSearch({ from: '/setup' });
  const router = useRouter();
  const [username, setUsername] = useState('admin');
  const [saved, setSaved] = useState(false);
  const setup = useMutation({
    mutationFn: () => anonymousClient.post('/setup_lakefs', { body: { username: username.trim() } }),
  });
  const enter = useMutation({
    async mutationFn(pair: { access_key_id: string; secret_access_key: string }) {
      await logIn(pair);
      queryClient.clear();
      router.history.push(safeNext(next, globalThis.location.origin));
    },
  });
  const credentials = setup.data;
  const isTaken = setup.error instanceof ApiError && setup.error.isConflict;

  return (
    <main className="login full">
      <div className="card wide">
        <Logo size={36} />
        {credentials === undefined ? (
          <>
            <h1>Set up svc</h1>
            <form
              className="stack"
              onSubmit={(event) => {
                event.preventDefault();
                if (username.trim() !== '') setup.mutate();
              }}
            >
              <div className="muted">
                Create the first administrator. You get a pair of keys to log in with.
              </div>
              {isPlainRemote() && (
                <Notice kind="warn" title="This connection is not encrypted">
                  The keys would cross the network in the clear. Use https or set up from the server itself.
                </Notice>
              )}
              <TextInput
                label="Administrator user name"
                value={username}
                error={username.trim() === '' ? 'A user name is required' : undefined}
                onChange={(event) => setUsername(event.currentTarget.value)}
                autoComplete="off"
              />
              {isTaken && (
                <Notice kind="error" title="svc is already set up">
                  <Link to="/auth/login">Go to login</Link>
                </Notice>
              )}
              {setup.error !== null && !isTaken && <ErrorNotice error={setup.error} />}
              <Button type="submit" loading={setup.isPending} disabled={username.trim() === ''}>
                Create administrator
              </Button>
            </form>
          </>
        ) : (
          <div className="stack">
            <h1 className="flush">Your administrator is ready</h1>
            <SecretCard credentials={credentials} />
            <Checkbox
              label="I saved the secret"
              checked={saved}
              onChange={(event) => setSaved(event.currentTarget.checked)}
            />
            {enter.error !== null && <ErrorNotice error={enter.error} />}
            <div className="row">
              <Button
                disabled={!saved}
                loading={enter.isPending}
                onClick={() =>
                  enter.mutate({
                    access_key_id: credentials.access_key_id,
                    secret_access_key: credentials.secret_access_key,
                  })
                }
              >
                Log me in now
              </Button>
              <Button
                variant="default"
                disabled={!saved}
                onClick={() => void router.navigate({ to: '/auth/login' })}
              >
                Go to login
              </Button>
            </div>
          </div>
        )}
      </div>
    </main>
  );
}
