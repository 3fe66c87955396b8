import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, usePageTitle } from '../../kit/basics.tsx';
import { Notice } from '../../kit/notice.tsx';
import { client } from '../../lib/api.ts';
import { userQuery, useWrite } from '../../lib/queries.ts';
import { Main } from '../shell/layout.tsx';

/** What svcctl shows to be typed. A link never stands in for typing it, or anybody could send one. */
const typedCode = /^[A-Z]{4}-?[A-Z]{4}$/;

/** Asks before a program gets a token; nothing happens without the button. */
export function CliLoginPage(): ReactNode {
  usePageTitle('Log svcctl in');
  const { login: linked } = useSearch({ from: '/app/auth/cli' });
  const [typed, setTyped] = useState<string>();
  const name = linked === undefined || typedCode.test(linked) ? typed : linked;
  return <Main narrow>{name === undefined ? <CodeForm onDone={setTyped} /> : <Approval name={name} />}</Main>;
}

function CodeForm({ onDone }: { onDone: (code: string) => void }): ReactNode {
  const [text, setText] = useState('');
  const code = text.trim().toUpperCase();
  const isCode = typedCode.test(code);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isCode) onDone(code.includes('-') ? code : `${code.slice(0, 4)}-${code.slice(4)}`);
      }}
    >
      <h1 className="page-title">Log svcctl in</h1>
      <TextInput
        label="Code that svcctl shows"
        placeholder="BCDF-GHJK"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" disabled={!isCode}>
        Go on
      </Button>
    </form>
  );
}

function Approval({ name }: { name: string }): ReactNode {
  const path = { login: name };
  const user = useQuery(userQuery).data;
  const { data, error } = useQuery({
    queryKey: ['cli-login', name],
    queryFn: ({ signal }) => client.get('/auth/cli/logins/{login}', { params: { path }, signal }),
    retry: false,
    staleTime: Infinity,
  });
  const [answer, setAnswer] = useState<'approved' | 'refused'>();
  const approve = useWrite(
    () => client.post('/auth/cli/logins/{login}/approve', { params: { path } }),
    ({ redirect }) => {
      setAnswer('approved');
      if (redirect !== undefined) globalThis.location.assign(redirect);
    },
  );
  if (answer === 'approved') {
    return (
      <Notice kind="good" title="svcctl is logged in">
        You can close this page. My sessions lists the login, and ends it.
      </Notice>
    );
  }
  if (answer === 'refused') {
    return (
      <Notice kind="info" title="Nothing was approved">
        You can close this page.
      </Notice>
    );
  }
  if (error !== null) return <ErrorNotice error={error} />;
  if (data === undefined) return null;
  return (
    <div className="stack">
      <h1 className="page-title">Let svcctl on {data.host} act for you?</h1>
      <p>
        It may then do everything that {user?.friendly_name ?? user?.id} may do, for at most 12 hours. The
        login was begun at the address {data.source_ip}.
      </p>
      <p>
        <strong>Only go on when you have just run svcctl login yourself.</strong> Whoever sent you a link or a
        code to this page wants to act in your name.
      </p>
      {approve.error !== null && <ErrorNotice error={approve.error} />}
      <div className="row">
        <Button loading={approve.isPending} onClick={() => approve.mutate(undefined)}>
          Let it act for me
        </Button>
        <Button variant="default" onClick={() => setAnswer('refused')}>
          No
        </Button>
        <Link to="/auth/sessions" className="right small">
          My sessions
        </Link>
      </div>
    </div>
  );
}
