import { Button, PasswordInput, TextInput } from '@mantine/core';
import { ApiError } from '@svc/client';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import { Notice, usePageTitle } from '../../kit/basics.tsx';
import { anonymousClient } from '../../lib/api.ts';
import { Logo } from '../shell/top-bar.tsx';

/** Where links of mails lead: with its token a password is chosen, without one a mail is asked for. */
export function PasswordPage(): ReactNode {
  usePageTitle('Password');
  const { token, email } = useSearch({ strict: false });
  return (
    <main className="login full">
      <div className="card">
        <Logo size={36} />
        {token === undefined ? <AskForMail /> : <ChoosePassword token={token} email={email} />}
        <Button variant="subtle" mt="md" fullWidth component={Link} to="/auth/login">
          Go to the login
        </Button>
      </div>
    </main>
  );
}

function AskForMail(): ReactNode {
  const [email, setEmail] = useState('');
  const form = useSending(() => anonymousClient.post('/auth/password/forgot', { body: { email } }));
  if (form.isDone) {
    return (
      <Notice kind="good" title="Look into your mail">
        If the address has an account, a link is on its way. It works for 20 minutes.
      </Notice>
    );
  }
  return (
    <form className="stack" onSubmit={form.send}>
      <h1>Forgotten password</h1>
      {form.failure}
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
        withAsterisk={false}
      />
      <Button type="submit" loading={form.isBusy} disabled={email === ''} fullWidth>
        Mail me a link
      </Button>
    </form>
  );
}

function ChoosePassword({ token, email }: { token: string; email: string | undefined }): ReactNode {
  const [password, setPassword] = useState('');
  const form = useSending(() =>
    anonymousClient.post('/auth/password', {
      body: { token, newPassword: password, ...(email !== undefined && { email }) },
    }),
  );
  if (form.isDone) {
    return (
      <Notice kind="good" title="The password is set">
        Log in with your e-mail address and this password.
      </Notice>
    );
  }
  return (
    <form className="stack" onSubmit={form.send}>
      <h1>Choose a password</h1>
      {form.failure}
      <PasswordInput
        label="New password"
        description="8 to 128 characters"
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password', tabIndex: 0 }}
      />
      <Button type="submit" loading={form.isBusy} disabled={password.length < 8} fullWidth>
        Set the password
      </Button>
    </form>
  );
}

/** One form that is sent once. */
function useSending(request: () => Promise<unknown>): {
  isBusy: boolean;
  isDone: boolean;
  failure: ReactNode;
  send: (event: FormEvent) => void;
} {
  const [state, setState] = useState<'busy' | 'done' | { readonly title: string; readonly text: string }>();
  const send = async (): Promise<void> => {
    setState('busy');
    try {
      await request();
      setState('done');
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        setState({
          title: 'The link is not valid any more',
          text: 'It works once and for a limited time. Ask for a new one.',
        });
      } else {
        setState({
          title: 'This did not work',
          text: error instanceof ApiError && error.status < 500 ? error.message : 'Try again later.',
        });
      }
    }
  };
  return {
    isBusy: state === 'busy',
    isDone: state === 'done',
    failure:
      typeof state === 'object' ? (
        <Notice kind="error" title={state.title}>
          {state.text}
        </Notice>
      ) : null,
    send: (event) => {
      event.preventDefault();
      void send();
    },
  };
}
