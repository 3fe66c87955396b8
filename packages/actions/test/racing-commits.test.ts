import { expect, test } from 'vitest';
import { house, receiver, webhook } from './kit.ts';

test('of commits that race on a branch each has a run before it that passed', async () => {
  const at = await house();
  const { url } = await receiver();
  await at.put('_svc_actions/a.yaml', webhook('gate', '{pre-commit: }', url));
  const made = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      at.engine.commits.create({
        repository: 'repo',
        branch: 'main',
        actor: at.actor,
        message: `racer ${index}`,
        allowEmpty: true,
      }),
    ),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(6);
  for (const { id } of made) {
    const { items } = await at.hooks.runs.list({ repository: 'repo', commit: id });
    expect(items).toMatchObject([{ eventType: 'pre-commit', passed: true }]);
  }
});
