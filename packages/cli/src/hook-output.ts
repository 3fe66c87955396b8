import { expectStatus } from '@svc/client';
import type { CommandContext } from './context.ts';

/** What a hook wrote. */
export async function hookOutput(
  { transport }: CommandContext,
  path: { readonly repository: string; readonly run_id: string; readonly hook_run_id: string },
): Promise<string> {
  const answer = await transport.call({
    method: 'GET',
    path: '/repositories/{repository}/actions/runs/{run_id}/hooks/{hook_run_id}/output',
    params: { path },
  });
  await expectStatus(answer, 200);
  return answer.text();
}
