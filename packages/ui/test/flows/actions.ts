import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

const refusing = `name: gate keeper
on: {pre-commit: {branches: [main]}, post-commit: }
hooks:
  - {id: looks, type: lua, properties: {script: 'print("looking at " .. action.event_type)'}}
  - {id: refuses, type: lua, properties: {script: 'if action.commit.message == "bad" then require("hook").fail("not like this") end'}}
  - {id: cleans, type: lua, if: failure(), properties: {script: 'print("cleaned")'}}
`;

const slow = `name: takes its time
on: {post-commit: }
hooks:
  - {id: waits, type: lua, properties: {script: 'print("halfway") require("time").sleep(15e9) print("arrived")'}}
`;

export function actionFlows(stage: Stage): void {
  test('a run is watched while it runs, found where its branch is merged, and run again', async () => {
    await stage.repository('watching', { 'a.txt': 'a' });
    await stage.branch('watching', 'topic');
    await stage.write('watching', 'topic', { '_svc_actions/slow.yaml': slow });
    await stage.commit('watching', 'topic', 'Slow');
    await stage.play(async (ui) => {
      await ui.open('/repositories/watching/actions?status=running');
      await ui.link(/post-commit/).click();
      await ui.sees('Running');
      // What it wrote is there before it ends, and the page follows to the end by itself.
      await ui.sees('halfway');
      await ui.sees('arrived');
      await ui.sees('Completed');
      await ui.button('Run again').click();
      await ui.sees('Repeats');
      await ui.sees('Running');
    });
    await stage.play(async (ui) => {
      await ui.open('/repositories/watching/compare?ref=main&compare=topic');
      await ui.button('Merge').click();
      await ui
        .dialog()
        .getByRole('link', { name: /post-commit\s+Completed/ })
        .first()
        .waitFor();
      await ui.button('Cancel', ui.dialog()).click();
      await ui.button('Create pull request').click();
      await ui.field('Title').fill('Slow hooks');
      await ui.button('Create pull request').click();
      // On a slow machine the second run has ended, too.
      await ui
        .link(/post-commit\s+Completed/)
        .first()
        .waitFor();
    });
  });

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
      await ui.link(/post-commit/).waitFor();
      await ui.field('Result').selectOption('failed');
      await ui.isAt(/status=failed/);
      await ui.link(/pre-commit/).waitFor();
      await ui.gone(ui.link(/post-commit/));
      await ui.field('Event').selectOption('post-merge');
      await ui.sees('No runs match');
      await ui.button('Clear filter').click();
      await ui.button('Only runs of main').first().click();
      await ui.isAt(/branch=main/);
      await ui.button('Remove filter').click();
      await ui.isAt(/actions$/);
      await ui.lacks('Actions are switched off on this server');
    });
    // A server whose configuration switches hooks off.
    await stage.play(async (ui) => {
      await ui.page.route('**/api/v1/config', (route) =>
        route.fulfill({ json: { capabilities_config: { actions_enabled: false } } }),
      );
      await ui.open('/repositories/acting/actions');
      await ui.sees('Actions are switched off on this server');
    });
  });
}
