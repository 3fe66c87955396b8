import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

const refusing = `name: gate keeper
on: {pre-commit: {branches: [main]}, post-commit: }
hooks:
  - {id: looks, type: lua, properties: {script: 'print("looking at " .. action.event_type)'}}
  - {id: refuses, type: lua, properties: {script: 'if action.commit.message == "bad" then require("hook").fail("not like this") end'}}
  - {id: cleans, type: lua, if: failure(), properties: {script: 'print("cleaned")'}}
`;

export function actionFlows(stage: Stage): void {
  test('runs of hooks are listed, filtered and read, and found from a refusal and from a commit', async () => {
    await stage.repository('acting', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/acting/actions');
      await ui.sees('No runs yet');
      await ui.button('New action').first().click();
      await ui.dialog().getByText('Webhook', { exact: true }).click();
      expect(await ui.field('Action').inputValue()).toContain('type: webhook');
      await ui.field('File name').fill('gate');
      await ui.field('Action').fill(refusing);
      await ui.button('Upload', ui.dialog()).click();
      await ui.isAt(/object\?ref=main&path=_svc_actions%2Fgate\.yaml/);

      // A refusal leads to the run that says why.
      await ui.go('/repositories/acting/objects?ref=main&showChanges=true');
      await ui
        .button(/^Commit/)
        .first()
        .click();
      await ui.field('Message').fill('bad');
      await ui.button(/^Commit/, ui.dialog()).click();
      await ui.sees('A hook refused it');
      await ui.link('Show the run').click();
      await ui.page.getByRole('heading', { name: 'pre-commit' }).waitFor();
      await ui.sees('action failed: not like this');
      await ui.button('looks').click();
      await ui.sees('looking at pre-commit');
    });
    const id = await stage.commit('acting', 'main', 'good');
    await stage.branch('acting', 'side');
    await stage.play(async (ui) => {
      await ui.open(`/repositories/acting/commits/${id}`);
      await ui.link(/pre-commit\s+Completed/).waitFor();
      await ui.link('Actions').click();
      await ui
        .link(/pre-commit/)
        .first()
        .waitFor();
      await ui.button('Only runs of main').first().click();
      await ui.isAt(/branch=main/);
      await ui.button('Remove filter').click();
      await ui.isAt(/actions$/);
    });
  });
}
