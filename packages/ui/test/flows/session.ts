import { expect, test } from 'vitest';
import { keys } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { startSvc } from '../svc-server.ts';

export function sessionFlows(stage: Stage): void {
  test('set-up creates the administrator once, shows the secret once and logs in', async () => {
    const fresh = await startSvc('--local-settings');
    try {
      await stage.play(
        async (ui) => {
          await ui.open('/repositories');
          await ui.isAt(/\/setup/);
          await ui.field('Administrator user name').fill('');
          await ui.sees('A user name is required');
          await ui.field('Administrator user name').fill('root');
          await ui.button('Create administrator').click();
          await ui.sees('Save the secret now');
          await ui.refuses(ui.button('Log me in now'));
          await ui.field('I saved the secret').check();
          await ui.button('Log me in now').click();
          await ui.sees('Welcome to svc');
          await ui.open('/setup');
          await ui.button('Create administrator').click();
          await ui.sees('svc is already set up');
        },
        { url: fresh.url, loggedIn: false },
      );
    } finally {
      await fresh.stop();
    }
  });

  test('login refuses wrong keys, keeps the key id, and goes where one wanted to go', async () => {
    // A second try finds what the first one made.
    const target = `login-target-${Date.now()}`;
    await stage.repository(target);
    // Logging out ends every session of the user, so the flow has a user of its own.
    const own = await stage.administrator(`leaver-${Date.now()}`);
    await stage.play(
      async (ui) => {
        await ui.open(`/repositories/${target}/branches`);
        await ui.isAt(/\/auth\/login\?.*next=/);
        // The first field waits for typing.
        await ui.page.locator('input:focus').waitFor();
        await ui.page.keyboard.type(own.access_key_id);
        await ui.field('Secret access key').fill('wrong');
        await ui.button('Log in').click();
        await ui.sees('Login failed');
        expect(await ui.field('Access key ID').inputValue()).toBe(own.access_key_id);
        expect(await ui.field('Secret access key').inputValue()).toBe('');
        await ui.field('Secret access key').fill(own.secret_access_key);
        await ui.button('Log in').click();
        await ui.isAt(/\/repositories\/login-target-\d+\/branches$/);
        const cookie = (await ui.context.cookies()).find(({ name }) => name === 'access_token');
        expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
        await ui.open('/auth/credentials');
        await ui.sees('current');
        expect(await ui.button('Revoke').count()).toBe(0);
        const stored = await ui.page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
        expect(stored).not.toContain(own.secret_access_key);

        await ui.button(/Account of/).click();
        await ui.page.getByRole('menuitem', { name: 'Log out' }).click();
        await ui.isAt(/\/auth\/login/);
        await ui.page.goBack();
        await ui.isAt(/\/auth\/login/);
      },
      { loggedIn: false },
    );
  });

  test('a session that ends while somebody types is renewed over the page and the work is sent once', async () => {
    await stage.repository('expiry');
    await stage.write('expiry', 'main', { 'a.txt': 'a' });
    await stage.play(
      async (ui) => {
        await ui.open('/repositories/expiry/objects');
        await ui.button('Commit').click();
        await ui.field('Message').fill('Typed before the session ended');
        await ui.sees('1 change, 1 B new');
        await ui.context.clearCookies();
        await ui.button('Commit', ui.dialog()).click();
        await ui.sees('Your session has ended');
        await ui.field('Access key ID').fill(keys.access_key_id);
        await ui.field('Secret access key').fill(keys.secret_access_key);
        await ui.button('Log in').click();
        await ui.gone(ui.dialog());
      },
      { alone: true },
    );
    const { results } = await stage.client.get('/repositories/{repository}/refs/{ref}/commits', {
      params: { path: { repository: 'expiry', ref: 'main' } },
    });
    expect(results.map(({ message }) => message)).toEqual([
      'Typed before the session ended',
      'Repository created',
    ]);
  });
}

/** Rarely touched. */
export function rareSessionFlows(stage: Stage): void {
  test.for(['//evil.example/x', 'https://evil.example', 'javascript:alert(1)'])(
    'after login nobody is sent to %s',
    async (next) => {
      await stage.play(
        async (ui) => {
          await ui.open(`/auth/login?next=${encodeURIComponent(next)}`);
          await ui.field('Access key ID').fill(keys.access_key_id);
          await ui.field('Secret access key').fill(keys.secret_access_key);
          await ui.button('Log in').click();
          await ui.isAt(/\/repositories$/);
        },
        { loggedIn: false },
      );
    },
  );

  test('shortly before a session ends there is time to renew it', async () => {
    await stage.play(
      async (ui) => {
        const end = Math.floor(Date.now() / 1000) + 200;
        await ui.page.addInitScript((seconds) => {
          if (localStorage.getItem('svc:ui:session-end') === null)
            localStorage.setItem('svc:ui:session-end', String(seconds));
        }, end);
        await ui.open('/repositories');
        await ui.sees('Your session ends soon');
        await ui.button('Renew').click();
        await ui.sees('Renew your session');
        await ui.field('Access key ID').fill(keys.access_key_id);
        await ui.field('Secret access key').fill(keys.secret_access_key);
        await ui.button('Log in').click();
        await ui.lacks('Your session ends soon');
        const kept = await ui.page.evaluate(() => Number(localStorage.getItem('svc:ui:session-end')));
        expect(kept).toBeGreaterThan(end + 3600);
      },
      { alone: true },
    );
  });

  test.for(['/auth/users/create?token=x', '/auth/resetpassword'])(
    'without mail %s leads to the login',
    async (path) => {
      await stage.play(
        async (ui) => {
          await ui.open(path);
          await ui.isAt(/\/auth\/login$/);
        },
        { loggedIn: false },
      );
    },
  );
}
