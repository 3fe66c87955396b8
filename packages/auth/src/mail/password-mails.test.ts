import { readFileSync } from 'node:fs';
import { LocalCacheBus } from '@svc/kv';
import {
  certifyLoopback,
  linkIn,
  startMailServer,
  tempDir,
  type MailServer,
  type MailServerOptions,
} from '@svc/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { actor, bearer, local, makeAuth, type AuthFixture } from '../../test/make-auth.ts';
import { refused } from '../../test/with-alice.ts';
import type { Mail, MailOptions } from '../index.ts';
import { SmtpMailer, type SmtpSettings } from '../sources/smtp.ts';

const baseUrl = 'https://svc.example/sub/';

class Outbox {
  readonly mails: Mail[] = [];
  fails = false;
  send(mail: Mail): Promise<void> {
    if (this.fails) return Promise.reject(new Error('no server'));
    this.mails.push(mail);
    return Promise.resolve();
  }
}

async function open(limits: Partial<MailOptions> = {}) {
  const outbox = new Outbox();
  const fixture = await makeAuth({
    mail: { mailer: outbox, baseUrl, everyMs: 60_000, burst: 10, ...limits },
  });
  const { passwordMails } = fixture.auth;
  if (passwordMails === undefined) throw new Error('there is mail');
  return { ...fixture, outbox, mails: passwordMails };
}

function tokenOf(mail: Mail | undefined): string {
  const link = /https:\S+/.exec(mail?.text ?? '')?.[0] ?? '';
  return new URL(link).searchParams.get('token') ?? '';
}

const login = ({ auth }: AuthFixture, password: string, username = 'ann@example.com') =>
  auth.login({ username, password, client: local });

describe('an invitation', () => {
  it('makes a user who chooses a password once', async () => {
    const opened = await open();
    const { auth, mails, outbox } = opened;
    expect(await mails.invite('Ann@Example.com', actor)).toMatchObject({
      username: 'ann@example.com',
      email: 'ann@example.com',
    });
    const [mail] = outbox.mails;
    expect(mail).toMatchObject({ to: 'ann@example.com', subject: 'You have been invited' });
    expect(mail?.text).toMatch(
      / https:\/\/svc\.example\/sub\/auth\/users\/create\?token=[\w.-]+&email=ann%40/,
    );
    expect(mail?.html).toContain('&amp;email=ann%40example.com"');
    await expect(login(opened, 'a good password')).rejects.toMatchObject(refused);
    const token = tokenOf(mail);
    await expect(mails.setPassword(token, 'short', undefined)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(mails.setPassword(token, 'a good password', 'bob@example.com')).rejects.toMatchObject(
      refused,
    );
    await mails.setPassword(token, 'a good password', 'Ann@example.com');
    expect(await login(opened, 'a good password')).toMatchObject({ username: 'ann@example.com' });
    await expect(mails.setPassword(token, 'another password', undefined)).rejects.toMatchObject(refused);
    await expect(auth.authenticate(bearer(token))).rejects.toMatchObject(refused);
  });

  it('leaves nobody behind when it is not mailed', async () => {
    const { auth, mails, outbox } = await open({ burst: 1 });
    await expect(mails.invite('no address', actor)).rejects.toMatchObject({
      message: 'Invalid email format',
    });
    outbox.fails = true;
    await expect(mails.invite('ann@example.com', actor)).rejects.toThrow('no server');
    outbox.fails = false;
    await expect(mails.invite('ann@example.com', actor)).rejects.toMatchObject({ kind: 'too_many_failures' });
    expect((await auth.users.list()).results).toStrictEqual([]);
    const never = await open({ burst: 0 });
    await expect(never.mails.invite('ann@example.com', actor)).rejects.toMatchObject({
      kind: 'too_many_failures',
    });
  });

  it('of somebody who is there already changes nothing', async () => {
    const { auth, mails, outbox } = await open();
    await auth.users.create({ username: 'ann', email: 'ann@example.com' }, actor);
    await expect(mails.invite('ann@example.com', actor)).rejects.toMatchObject({ kind: 'already_exists' });
    expect(outbox.mails).toStrictEqual([]);
    expect((await auth.users.list()).results.map(({ username }) => username)).toStrictEqual(['ann']);
  });
});

describe('a forgotten password', () => {
  async function withAnn(limits?: Partial<MailOptions>) {
    const opened = await open(limits);
    await opened.auth.users.create({ username: 'ann', email: 'ann@example.com' }, actor);
    await opened.auth.users.setPassword('ann', 'the old password', actor);
    return opened;
  }

  it('is replaced by whoever reads the mail, which ends every session', async () => {
    const opened = await withAnn();
    const { auth, mails, outbox } = opened;
    const session = await login(opened, 'the old password');
    mails.forgot('ANN@example.com', local);
    await expect.poll(() => outbox.mails.length).toBe(1);
    await mails.setPassword(tokenOf(outbox.mails[0]), 'the new password', undefined);
    await expect(login(opened, 'the old password')).rejects.toMatchObject(refused);
    expect(await login(opened, 'the new password')).toBeDefined();
    await expect(auth.authenticate(bearer(session.token))).rejects.toMatchObject(refused);
  });

  it('has 20 minutes, and is no other token', async () => {
    const opened = await withAnn();
    const { mails, outbox, clock } = opened;
    mails.forgot('ann@example.com', local);
    await expect.poll(() => outbox.mails.length).toBe(1);
    const session = await login(opened, 'the old password');
    await expect(mails.setPassword(session.token, 'the new password', undefined)).rejects.toMatchObject(
      refused,
    );
    clock.now += 20 * 60_000;
    await expect(
      mails.setPassword(tokenOf(outbox.mails[0]), 'the new password', undefined),
    ).rejects.toMatchObject(refused);
  });

  it('tells nobody who has an account, and cannot flood one', async () => {
    const { auth, mails, outbox, log } = await withAnn({ burst: 2 });
    await auth.users.create({ username: 'x', email: 'x@example.com', source: 'oidc' }, actor);
    expect(() => mails.forgot('no address', local)).toThrow('Invalid email format');
    for (const [index, address] of ['ann', 'nobody', 'x', 'ann', 'ann'].entries())
      expect(
        mails.forgot(`${address}@example.com`, { ip: `10.0.0.${index}`, secure: false }),
      ).toBeUndefined();
    await expect.poll(() => log.lines.filter((line) => line.includes('mail dropped')).length).toBe(1);
    expect(outbox.mails.map(({ to }) => to)).toStrictEqual(['ann@example.com', 'ann@example.com']);
    for (let attempt = 0; attempt < 5; attempt++) mails.forgot('nobody@example.com', local);
    expect(() => mails.forgot('nobody@example.com', local)).toThrow(/too many/);
  });

  it('is limited over all workers of a server', async () => {
    const bus = new LocalCacheBus();
    const outbox = new Outbox();
    const mail = { mailer: outbox, baseUrl, everyMs: 60_000, burst: 2 };
    const [first, second] = [
      await makeAuth({ mail, cacheBus: bus }),
      await makeAuth({ mail, cacheBus: bus }),
    ];
    await first.auth.passwordMails?.invite('a@example.com', actor);
    await second.auth.passwordMails?.invite('b@example.com', actor);
    await expect(first.auth.passwordMails?.invite('c@example.com', actor)).rejects.toMatchObject({
      kind: 'too_many_failures',
    });
    first.clock.now += 60_000;
    expect(await first.auth.passwordMails?.invite('c@example.com', actor)).toBeDefined();
  });
});

describe('mail by SMTP', () => {
  const mail = {
    to: 'ann@example.com',
    subject: 'Grüße',
    text: 'go to https://a.example/?x=1',
    html: '<p>go</p>',
  };
  const credentials = { username: 'svc', password: 'the password of svc at its mail server' };

  async function start(options: MailServerOptions): Promise<MailServer> {
    const server = await startMailServer(options);
    onTestFinished(() => server.stop());
    return server;
  }
  const mailer = (port: number, changes: Partial<SmtpSettings> = {}) =>
    new SmtpMailer({
      host: '127.0.0.1',
      port,
      useSsl: false,
      username: '',
      password: '',
      localName: 'svc.local',
      sender: 'svc <svc@example.com>',
      ...changes,
    });

  it('is sent plain where nothing else is offered, as text and HTML', async () => {
    const server = await start({});
    await mailer(server.port).send(mail);
    const [received] = server.mails;
    expect(received).toMatchObject({
      from: 'svc@example.com',
      to: 'ann@example.com',
      encrypted: false,
      greeting: 'svc.local',
    });
    expect(received?.source).toContain('text/plain');
    expect(received?.source).toContain('text/html');
    expect(received === undefined ? '' : linkIn(received).href).toBe('https://a.example/?x=1');
  });

  it('is encrypted with STARTTLS when offered and with TLS from the start, to the right server only', async () => {
    const certificate = await certifyLoopback(tempDir());
    const ca = readFileSync(certificate.ca, 'utf8');
    for (const secure of [false, true]) {
      const server = await start({ certificate, secure, login: credentials });
      await mailer(server.port, { useSsl: secure, ca, ...credentials }).send(mail);
      expect(server.mails).toMatchObject([{ encrypted: true, user: 'svc' }]);
      await expect(mailer(server.port, { useSsl: secure, ...credentials }).send(mail)).rejects.toThrow(
        /certificate/,
      );
      const wrong = { useSsl: secure, ca, username: 'svc', password: 'wrong' };
      await expect(mailer(server.port, wrong).send(mail)).rejects.toThrow('the login is wrong');
    }
  });

  it('that is refused is an error', async () => {
    const server = await start({});
    server.refuses = true;
    await expect(mailer(server.port).send(mail)).rejects.toThrow('no mail today');
  });
});
