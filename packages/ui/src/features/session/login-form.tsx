import { Button, PasswordInput, TextInput } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Notice } from '../../kit/basics.tsx';
import { logIn } from '../../lib/login.ts';
import { capabilitiesQuery, setupQuery } from '../../lib/queries.ts';

type Failure = { readonly title: string; readonly text: string };

/** Key id and secret; the secret is forgotten after every try. */
export function LoginForm({ onDone }: { onDone: () => void }): ReactNode {
  const config = useQuery(setupQuery).data?.login_config;
  const canReset = useQuery(capabilitiesQuery).data?.forgot_password === true;
  const [id, setId] = useState('');
  const [secret, setSecret] = useState('');
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);
  const idLabel =
    config?.username_ui_placeholder || (canReset ? 'Access key ID or e-mail address' : 'Access key ID');
  const secretLabel =
    config?.password_ui_placeholder || (canReset ? 'Secret access key or password' : 'Secret access key');

  const send = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await logIn({ access_key_id: id.trim(), secret_access_key: secret });
      onDone();
    } catch (error) {
      setSecret('');
      if (error instanceof ApiError && error.status === 401) {
        setFailure({
          title: 'Login failed',
          text:
            config?.login_failed_message || 'The credentials do not match. Check both values and try again.',
        });
      } else if (error instanceof ApiError && error.status < 500) {
        setFailure({
          title: 'The login could not be processed',
          text: `${error.message} (${error.requestId ?? error.status})`,
        });
      } else {
        setFailure({
          title: 'The server did not answer',
          text: 'Your key id is kept; enter the secret and try again.',
        });
      }
    } finally {
      setBusy(false);
    }
  };

  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {failure !== undefined && (
        <Notice kind="error" title={failure.title}>
          {failure.text}
        </Notice>
      )}
      <TextInput
        label={idLabel}
        placeholder={config?.username_ui_placeholder}
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        withAsterisk={false}
        ref={first}
      />
      <PasswordInput
        label={secretLabel}
        placeholder={config?.password_ui_placeholder}
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        autoComplete="current-password"
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the secret', tabIndex: 0 }}
      />
      <Button type="submit" loading={busy} disabled={id === '' || secret === ''} fullWidth>
        Log in
      </Button>
      {canReset && (
        <Button variant="subtle" component={Link} to="/auth/resetpassword" fullWidth>
          Forgotten password?
        </Button>
      )}
    </form>
  );
}
