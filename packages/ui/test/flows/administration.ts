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
      await ui.button('Close dialog').click();
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
      await ui.field('Choose listers').check();
      await ui.button('Delete 1').click();
      await ui.button('Delete', ui.dialog()).click();
      await ui.gone(ui.link('listers'));
    });
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
      },
      { loggedIn: false },
    );
  });
}
