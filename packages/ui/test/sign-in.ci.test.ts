import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort, linkIn, orSkipReason, startMailServer, startOidcServer } from '@svc/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { Stage } from './stage.ts';

const port = await freePort();
const base = `http://127.0.0.1:${port}`;
const client = { clientId: 'svc', clientSecret: 'the secret of svc at its provider' };
const provider = await startOidcServer({
  ...client,
  redirectUri: `${base}/api/v1/oidc/callback`,
  postLogoutRedirectUri: `${base}/auth/login`,
});
provider.people.set('ann', { name: 'Ann Example' });
const mailServer = await startMailServer();
const stage = await orSkipReason('a browser', () =>
  Stage.open({
    SVC_LISTEN_ADDRESS: `127.0.0.1:${port}`,
    SVC_EMAIL_SMTP_HOST: '127.0.0.1',
    SVC_EMAIL_SMTP_PORT: String(mailServer.port),
    SVC_EMAIL_SENDER: 'svc@example.com',
    SVC_EMAIL_SVC_BASE_URL: base,
    SVC_AUTH_OIDC_ENABLED: 'true',
    SVC_AUTH_OIDC_CLIENT_ID: client.clientId,
    SVC_AUTH_OIDC_CLIENT_SECRET: client.clientSecret,
    SVC_AUTH_OIDC_URL: provider.issuer,
    SVC_AUTH_OIDC_CALLBACK_BASE_URL: base,
    SVC_AUTH_OIDC_DEFAULT_INITIAL_GROUPS: 'Developers',
    SVC_AUTH_OIDC_FRIENDLY_NAME_CLAIM_NAME: 'name',
  }),
);

afterAll(async () => {
  await stage?.close();
  provider.stop();
  mailServer.stop();
});

describe.skipIf(stage === undefined)('the login page with an identity provider', () => {
  if (stage === undefined) return;

  test('logs in there, comes back to the page one wanted, and logs out there too', async () => {
    await stage.repository('behind-login');
    const context = await stage.browser.newContext({ baseURL: stage.server.url });
    // The provider's pages name a font of a foreign server.
    await context.route(
      ({ hostname }) => hostname !== '127.0.0.1',
      (route) => route.abort(),
    );
    const page = await context.newPage();
    const button = (name: string) => page.getByRole('button', { name });
    await page.goto('/repositories/behind-login/branches');
    await page.getByRole('link', { name: 'Continue with SSO' }).click();
    await page.getByPlaceholder('Enter any login').fill('ann');
    await page.getByPlaceholder('and password').fill('any');
    await button('Sign-in').click();
    await button('Continue').click();
    await page.waitForURL(`${base}/repositories/behind-login/branches`);
    await button('Account of Ann Example').click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await button('Yes, sign me out').click();
    await page.waitForURL(/\/auth\/login/);
    await page.getByRole('link', { name: 'Continue with SSO' }).waitFor();
    expect((await context.cookies(base)).map(({ name }) => name)).not.toContain('access_token');
    await context.close();
  });

  test('lets svcctl act for somebody who says so, and not for somebody who does not', async () => {
    const heard: string[] = [];
    const program = createServer((request, response) => {
      heard.push(request.url ?? '');
      response.end('svcctl is logged in');
    });
    await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
    const callback = { port: (program.address() as AddressInfo).port, state: 's'.repeat(22) };
    const verifier = 'v'.repeat(43);
    const start = { challenge: hash('sha256', verifier, 'base64url'), host: 'laptop' };
    const finish = (login: string, code?: string) =>
      stage.client.post('/auth/cli/logins/{login}/token', {
        params: { path: { login } },
        body: { verifier, ...(code !== undefined && { code }) },
      });
    const { name } = await stage.client.post('/auth/cli/logins', { body: { ...start, callback } });
    const context = await stage.browser.newContext({ baseURL: stage.server.url });
    await context.route(
      ({ hostname }) => hostname !== '127.0.0.1',
      (route) => route.abort(),
    );
    const page = await context.newPage();
    const button = (text: string) => page.getByRole('button', { name: text });
    // Through the login there and back to the question.
    await page.goto(`/auth/cli?login=${name}`);
    await page.getByRole('link', { name: 'Continue with SSO' }).click();
    await page.getByPlaceholder('Enter any login').fill('ann');
    await page.getByPlaceholder('and password').fill('any');
    await button('Sign-in').click();
    await button('Continue').click();
    await page.getByRole('heading', { name: 'Let svcctl on laptop act for you?' }).waitFor();
    await button('No').click();
    await page.getByText('Nothing was approved').waitFor();
    expect(await finish(name)).toEqual({});
    await page.reload();
    await button('Let it act for me').click();
    await page.getByText('svcctl is logged in').waitFor();
    const answer = new URL(heard[0] ?? '', 'http://127.0.0.1').searchParams;
    expect(answer.get('state')).toBe(callback.state);
    expect((await finish(name, answer.get('code') ?? '')).token).toBeDefined();

    // A code is typed, also when a link brings it.
    const typed = await stage.client.post('/auth/cli/logins', { body: start });
    await page.goto(`/auth/cli?login=${typed.name}`);
    await page.getByLabel('Code that svcctl shows').fill(typed.name.toLowerCase().replace('-', ''));
    await button('Go on').click();
    await button('Let it act for me').click();
    await page.getByText('svcctl is logged in').waitFor();
    expect((await finish(typed.name)).token).toBeDefined();
    await page.goto('/auth/cli?login=unknown-name');
    await page.getByText('there is no such login').waitFor();
    await context.close();
    program.close();
    program.closeAllConnections();
  });

  test('sets the password of an invitation, and a new one when it is forgotten', async () => {
    await stage.client.post('/auth/users', { body: { id: 'ivy@example.com', invite_user: true } });
    const linkOf = (index: number): string => {
      const mail = mailServer.mails[index];
      if (mail === undefined) throw new Error('there is no such mail');
      const link = linkIn(mail);
      return link.pathname + link.search;
    };
    await stage.play(
      async (ui) => {
        const choose = async (link: string, password: string): Promise<void> => {
          await ui.open(link);
          await ui.field('New password').fill(password);
          await ui.button('Set the password').click();
          await ui.sees('The password is set');
          await ui.page.getByRole('link', { name: 'Go to the login' }).click();
          await ui.button('Use access keys').click();
        };
        await choose(linkOf(0), 'the first password of ivy');
        await ui.page.getByRole('link', { name: 'Forgotten password?' }).click();
        await ui.field('E-mail address').fill('ivy@example.com');
        await ui.button('Mail me a link').click();
        await ui.sees('Look into your mail');
        await expect.poll(() => mailServer.mails.length).toBe(2);
        await choose(linkOf(1), 'the next password of ivy');
        await ui.field('Access key ID or e-mail address').fill('ivy@example.com');
        await ui.field('Secret access key or password').fill('the next password of ivy');
        await ui.button('Log in').click();
        await ui.isAt(/\/repositories/);
      },
      { loggedIn: false },
    );
  });

  test('still takes access keys', async () => {
    await stage.play(
      async (ui) => {
        await ui.open('/auth/login');
        await ui.button('Use access keys').click();
        await ui.sees('Secret access key');
      },
      { loggedIn: false },
    );
  });
});
