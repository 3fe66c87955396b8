import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Notice } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import { configQuery } from '../../lib/queries.ts';

const folders = ['_svc_actions/', '_lakefs_actions/'];

/** Says that a repository has action files which the server does not run. */
export function DisabledNotice({ repository, branch }: { repository: string; branch: string }): ReactNode {
  const isDisabled = useQuery(configQuery).data?.capabilities_config?.actions_enabled === false;
  const { data: hasFiles = false } = useQuery({
    queryKey: ['has-actions', repository, branch],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        folders.map((prefix) =>
          client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
            params: { path: { repository, ref: branch }, query: { prefix, amount: 1 } },
            signal,
          }),
        ),
      );
      return pages.some(({ results }) => results.length > 0);
    },
    enabled: isDisabled,
  });
  if (!isDisabled || !hasFiles) return null;
  return (
    <Notice kind="warn" title="Actions are switched off on this server">
      Branch {branch} has action files, but none of their hooks run. An administrator can switch them on with
      actions.enabled.
    </Notice>
  );
}
