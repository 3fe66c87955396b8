import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function settingsFlows(stage: Stage): void {
  test('general settings tell the facts, keep metadata, and delete only by the typed name', async () => {
    await stage.repository('general');
    await stage.play(async (ui) => {
      await ui.open('/repositories/general/settings');
      await ui.isAt(/settings\/general$/);
      await ui.sees('local://general');
      await ui.button('Add metadata').click();
      await ui.field('Metadata key 1').fill('description');
      await ui.field('Metadata value 1').fill('For tests');
      await ui.button('Save metadata').click();
      await ui.gone(ui.button('Save metadata'));
      await ui.button('Delete repository').click();
      await ui.refuses(ui.button('Delete repository', ui.dialog()));
      await ui.field('Type general to confirm').fill('general');
      await ui.button('Delete repository', ui.dialog()).click();
      await ui.isAt(/\/repositories$/);
      await ui.open('/repositories/general');
      await ui.sees('There is no repository general');
    });
  });

  test('a protection rule refuses uploads before files are chosen, until it is deleted', async () => {
    await stage.repository('protected', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/protected/settings/branches');
      await ui.sees('No branch is protected');
      await ui.field('Pattern').fill('ma*');
      await ui.button('Add rule').click();
      await ui.button('Delete rule ma*').waitFor();
      await ui.field('Is this branch protected?').fill('main');
      await ui.sees('Yes, by ma*.');
      await ui.open('/repositories/protected/objects?upload=true');
      await ui.sees('See the branch protection rules');
      await ui.refuses(ui.button('Choose files'));
      await ui.link('See the branch protection rules').click();
      await ui.button('Delete rule ma*').click();
      await ui.sees('No branch is protected');
    });
  });

  test('retention rules are set by a form that refuses zero days, and are seen as JSON', async () => {
    await stage.repository('retention');
    await stage.play(async (ui) => {
      await ui.open('/repositories/retention/settings/retention');
      await ui.button('Set rules').click();
      await ui.field('Days kept on every branch').fill('0');
      await ui.sees('A whole number of days, at least 1');
      await ui.refuses(ui.button('Save rules'));
      await ui.field('Days kept on every branch').fill('14');
      await ui.button('Save rules').click();
      await ui.sees('Rules saved');
      await ui.button('Delete rules').waitFor();
      await ui.page.getByText('JSON', { exact: true }).click();
      await ui.sees('"default_retention_days": 14');
    });
    const rules = await stage.client.get('/repositories/{repository}/settings/gc_rules', {
      params: { path: { repository: 'retention' } },
    });
    expect(rules).toEqual({
      default_retention_days: 14,
      branches: [{ branch_id: 'main', retention_days: 28 }],
    });
  });
}
