import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { usePageTitle } from '../../kit/basics.tsx';
import { needsFullLoad, safeNext } from '../../lib/next-path.ts';
import { queryClient, setupQuery } from '../../lib/queries.ts';
import { Logo } from '../shell/top-bar.tsx';
import { LoginForm } from './login-form.tsx';

function withNext(loginUrl: string, target: string): string {
  return `${loginUrl}${loginUrl.includes('?') ? '&' : '?'}${new URLSearchParams({ next: target }).toString()}`;
}

export function LoginPage(): ReactNode {
  usePageTitle('Log in');
  const { next, redirected } = useSearch({ from: '/auth/login' });
  const router = useRouter();
  const { data, isPending } = useQuery(setupQuery);
  const config = data?.login_config;
  const method =
    config?.login_url === undefined || config.login_url === '' ? 'none' : (config.login_url_method ?? 'none');
  const [useKeys, setUseKeys] = useState(false);
  const target = safeNext(next, globalThis.location.origin);

  useEffect(() => {
    if (data !== undefined && data.state !== 'initialized') void router.navigate({ to: '/setup' });
  }, [data, router]);
  useEffect(() => {
    if (method === 'redirect' && redirected === 'true' && config !== undefined)
      globalThis.location.assign(config.login_url);
  }, [method, redirected, config]);

  const onDone = (): void => {
    queryClient.clear();
    if (needsFullLoad(target)) globalThis.location.assign(target);
    else router.history.push(target);
  };
  const followFallback = (): void => {
    for (const name of config?.login_cookie_names ?? []) document.cookie = `${name}=; path=/; max-age=0`;
    globalThis.location.assign(config?.fallback_login_url ?? '/');
  };

  return (
    <main className="login full">
      <div className="card">
        <Logo size={36} />
        <h1>Log in to svc</h1>
        {isPending ? null : method === 'select' && !useKeys ? (
          <div className="stack">
            <Button component="a" href={withNext(config?.login_url ?? '', target)}>
              Continue with SSO
            </Button>
            <Button variant="default" onClick={() => setUseKeys(true)}>
              Use access keys
            </Button>
          </div>
        ) : (
          <LoginForm onDone={onDone} />
        )}
        {config?.fallback_login_url !== undefined && config.fallback_login_url !== '' && (
          <Button variant="subtle" mt="md" fullWidth onClick={followFallback}>
            {config.fallback_login_label || 'Log in another way'}
          </Button>
        )}
      </div>
    </main>
  );
}
