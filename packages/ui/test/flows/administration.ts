import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function administrationFlows(stage: Stage): void {
  test('users join groups, get policies and keys; a secret is shown once', async () => {
    await stage.play(async (ui) => {
      await ui.open('/auth/users');
      await ui.button('Create user').click();
      await ui.field('User name').fill('bad%name');
      await ui.sees('The name may not contain %');
      await ui.field('User name').fill('reader');
      await ui.button('Create user', ui.dialog()).click();
      await ui.isAt(/\/auth\/users\/reader\/groups$/);
      await ui.button('Add group').click();
      await ui.field('Name of the group').fill('View');
      await ui.page.getByRole('option', { name: 'Viewers' }).click();
      await ui.button('Add', ui.dialog()).click();
      await ui.link('Viewers').waitFor();
      await ui.link('Effective policies').click();
      await ui.link('FSReadAll').waitFor();
      await ui.link('Access keys').click();
      await ui.button('Create access key').click();
      await ui.button('Create', ui.dialog()).click();
      await ui.sees('Save the secret now');
      const secret = (await ui.dialog().locator('code').nth(1).textContent()) ?? '';
      expect(secret.length).toBeGreaterThan(20);
      await ui.page.keyboard.press('Escape');
      await ui.button('Copy secret access key').hover();
      await ui.button('I have saved it').click();
      expect(await ui.page.content()).not.toContain(secret);
      await ui.button('Revoke').click();
      await ui.button('Revoke', ui.dialog()).click();
      await ui.sees('No access keys');
    });
  });

  test('groups and policies are created, edited, attached and deleted', async () => {
    await stage.play(async (ui) => {
      await ui.open('/auth/policies');
      await ui.button('Create policy').click();
      await ui.field('Policy name').fill('OnlyList');
      const editor = ui.dialog().locator('.cm-content');
      await editor.fill('{"statement": [{"effect": "maybe"}]}');
      await ui.sees('"effect" must be "allow" or "deny"');
      await editor.fill('{"statement": [{"effect": "allow", "action": ["fs:List*"], "resource": "*"}]}');
      await ui.button('Create policy', ui.dialog()).click();
      await ui.isAt(/\/auth\/policies\/OnlyList$/);
      await ui.sees('fs:List*');

      await ui.link('Groups').click();
      await ui.button('Create group').click();
      await ui.field('Group name').fill('listers');
      await ui.button('Create group', ui.dialog()).click();
      await ui.isAt(/\/auth\/groups\/listers\/members$/);
      await ui.page
        .getByRole('navigation', { name: 'Group' })
        .getByRole('link', { name: 'Policies' })
        .click();
      await ui.button('Add policy').click();
      await ui.field('Name of the policy').fill('Only');
      await ui.page.getByRole('option', { name: 'OnlyList' }).click();
      await ui.button('Add', ui.dialog()).click();
      await ui.link('OnlyList').waitFor();

      await ui.open('/auth/groups');
      await ui.field('Select listers').check();
      await ui.button('Delete 1').click();
      await ui.button('Delete', ui.dialog()).click();
      await ui.gone(ui.link('listers'));
    });
  });

  test('who may only look at users and groups sees what they may not do, and why', async () => {
    await stage.client.post('/auth/users', { body: { id: 'inspector' } });
    const statement = [{ effect: 'allow' as const, action: ['auth:List*', 'auth:Read*'], resource: '*' }];
    await stage.client.post('/auth/policies', { body: { id: 'inspects', statement } });
    await stage.client.put('/auth/users/{userId}/policies/{policyId}', {
      params: { path: { userId: 'inspector', policyId: 'inspects' } },
    });
    const pair = await stage.client.post('/auth/users/{userId}/credentials', {
      params: { path: { userId: 'inspector' } },
    });
    await stage.play(
      async (ui) => {
        const { access_key_id, secret_access_key } = pair;
        await ui.context.request.post('/api/v1/auth/login', { data: { access_key_id, secret_access_key } });
        await ui.open('/auth/users');
        await ui.refuses(ui.button('Create user'));
        await ui.button('Create user').hover();
        await ui.page.getByRole('tooltip', { name: /your account lacks auth:CreateUser/ }).waitFor();
        await ui.go('/auth/groups/Viewers/members');
        await ui.refuses(ui.button('Add user'));
        await ui.go('/auth/policies/inspects');
        await ui.refuses(ui.button('Edit'));
        await ui.go('/auth/credentials');
        await ui.refuses(ui.button('Create access key'));
        await ui.refuses(ui.button('Revoke'));
      },
      { loggedIn: false },
    );
  });

  test('who lacks a permission is told which, and stays logged in', async () => {
    await stage.client.post('/auth/users', { body: { id: 'nobody' } });
    const pair = await stage.client.post('/auth/users/{userId}/credentials', {
      params: { path: { userId: 'nobody' } },
    });
    await stage.play(
      async (ui) => {
        await ui.open('/auth/login');
        await ui.field('Access key ID').fill(pair.access_key_id);
        await ui.field('Secret access key').fill(pair.secret_access_key);
        await ui.button('Log in').click();
        await ui.sees('You lack a permission');
        await ui.open('/auth/policies');
        await ui.sees('You lack a permission');
        await ui.button('Account of nobody').waitFor();
        await ui.gone(ui.button('Why?'));
      },
      { loggedIn: false },
    );
  });
}

/** Rarely touched. */
export function rareAdministrationFlows(stage: Stage): void {
  test('a policy is made with a form and tried before it is saved', async () => {
    await stage.client.post('/auth/users', { body: { id: 'tried' } });
    await stage.play(async (ui) => {
      await ui.open('/auth/policies');
      await ui.button('Create policy').first().click();
      await ui.field('Policy name').fill('may-write');
      const actions = ui.page.getByRole('combobox', { name: 'Actions of statement 1' });
      await actions.fill('fs:WriteOb');
      await ui.page.getByRole('option', { name: 'fs:WriteObject' }).click();
      await ui.page.locator('.cm-content').getByText('fs:WriteObject').waitFor();
      for (let tags = 0; tags < 3; tags += 1) await actions.press('Backspace');
      await ui.sees('"action" must be a list');
      await actions.fill('fs:WriteObject');
      await actions.press('Enter');
      await ui.lacks('"action" must be a list');
      await ui.page.getByRole('combobox', { name: 'User', exact: true }).fill('tried');
      await ui.page.getByRole('combobox', { name: 'Action', exact: true }).fill('fs:WriteObject');
      await ui.page
        .getByRole('combobox', { name: 'Resource', exact: true })
        .fill('arn:svc:fs:::repository/lake/object/a');
      await ui.button('Ask').click();
      await ui.sees('Statement 1 of');
      await ui.sees('not attached yet');
      await ui.page.getByRole('button', { name: 'Create policy' }).last().click();
      await ui.page.waitForURL(/may-write$/);
      await ui.page.getByRole('combobox', { name: 'User', exact: true }).fill('tried');
      // The names that were offered go away.
      await ui.page.getByRole('combobox', { name: 'User', exact: true }).press('Tab');
      await ui.button('Ask').click();
      await ui.sees('The user has no policy at all.');
    });
  });

  test('actions and resources are completed in the JSON of a policy', async () => {
    await stage.repository('completed');
    await stage.play(async (ui) => {
      await ui.open('/auth/policies');
      await ui.button('Create policy').first().click();
      await ui.field('Policy name').fill('completed-policy');
      const editor = ui.dialog().locator('.cm-content');
      await editor.fill('{"statement": [{"effect": "allow", "action": [""], "resource": ""}]}');
      const text = () => ui.dialog().locator('.cm-content').innerText();
      const { keyboard } = ui.page;
      const typeAfter = async (place: string, typed: string): Promise<void> => {
        await editor.press('ControlOrMeta+Home');
        const steps = (await text()).indexOf(place) + place.length;
        for (let step = 0; step < steps; step += 1) await keyboard.press('ArrowRight');
        await keyboard.type(typed);
      };
      const offered = ui.page.getByRole('listbox', { name: 'Completions' });
      await typeAfter('"action": ["', 'readob');
      await offered.getByRole('option', { name: 'fs:ReadObject' }).waitFor();
      // The list closes, the dialog stays.
      await keyboard.press('Escape');
      await ui.gone(offered);
      await keyboard.press('Backspace');
      await offered.waitFor();
      await keyboard.press('Enter');
      expect(await text()).toContain('"action": ["fs:ReadObject"]');
      await typeAfter('"resource": "', 'completed');
      await offered.getByRole('option', { name: 'repository/completed/object/*' }).click();
      expect(await text()).toContain('"resource": "arn:svc:fs:::repository/completed/object/*"');
      await ui.button('Create policy', ui.dialog()).click();
      await ui.isAt(/\/auth\/policies\/completed-policy$/);
    });
  });

  test('sessions are ended one by one and everywhere', async () => {
    await stage.client.post('/auth/users', { body: { id: 'two-places' } });
    const pair = await stage.client.post('/auth/users/{userId}/credentials', {
      params: { path: { userId: 'two-places' } },
    });
    const { access_key_id, secret_access_key } = pair;
    await stage.client.post('/auth/login', { body: { access_key_id, secret_access_key } });
    await stage.play(
      async (ui) => {
        await ui.open('/auth/login?next=/auth/sessions');
        await ui.field('Access key ID').fill(access_key_id);
        await ui.field('Secret access key').fill(secret_access_key);
        await ui.button('Log in').click();
        await ui.sees('this one');
        expect(await ui.button('End').count()).toBe(2);
        const other = ui.page.getByRole('row').filter({ hasNotText: 'this one' }).filter({ hasText: 'End' });
        await ui.button('End', other).click();
        await ui.button('End', ui.dialog()).click();
        await waitUntil(async () => (await ui.button('End').count()) === 1);
        await ui.button('Log out everywhere').click();
        await ui.button('Log out everywhere', ui.dialog()).click();
        await ui.field('Secret access key').waitFor();
      },
      { loggedIn: false },
    );
  });

  test('who did what is found by filters', async () => {
    await stage.client.post('/auth/users', { body: { id: 'audited' } });
    await stage.client.get('/auth/users/{userId}', { params: { path: { userId: 'audited' } } });
    await stage.play(async (ui) => {
      await ui.open('/auth/audit?resource=arn:svc:auth:::user/audited');
      await waitUntil(async () => {
        await ui.page.reload();
        await ui.settles();
        return ui.page.getByText('createUser').first().isVisible();
      });
      await ui.lacks('getUser');
      await ui.field('User').fill('nobody-at-all');
      await ui.field('User').press('Enter');
      await ui.sees('Nothing matches');
      await ui.button('Clear filter').click();
      // Other people are busy at the same time: the newest page may show only what they did.
      await ui.lacks('Nothing matches');
      await ui.field('Resource').fill('arn:svc:auth:::user/audited');
      await ui.field('Resource').press('Enter');
      await ui.sees('createUser');
    });
  });

  test('a refusal tells why, to who may know', async () => {
    await stage.client.post('/auth/users', { body: { id: 'curious' } });
    const statement = [
      { effect: 'allow' as const, action: ['auth:ReadUser', 'auth:ReadPolicy'], resource: '*' },
      { effect: 'deny' as const, action: ['fs:List*'], resource: '*' },
    ];
    await stage.client.post('/auth/policies', { body: { id: 'knows-why', statement } });
    await stage.client.put('/auth/users/{userId}/policies/{policyId}', {
      params: { path: { userId: 'curious', policyId: 'knows-why' } },
    });
    const pair = await stage.client.post('/auth/users/{userId}/credentials', {
      params: { path: { userId: 'curious' } },
    });
    await stage.play(
      async (ui) => {
        await ui.open('/auth/login');
        await ui.field('Access key ID').fill(pair.access_key_id);
        await ui.field('Secret access key').fill(pair.secret_access_key);
        await ui.button('Log in').click();
        await ui.button('Why?').click();
        await ui.sees('Denied: a statement forbids it');
        await ui.sees('Statement 2 of');
      },
      { loggedIn: false },
    );
  });
}
