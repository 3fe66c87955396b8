import { CloseButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Notice } from '../../kit/basics.tsx';
import { client, isNotFound } from '../../lib/api.ts';
import { useStorageOf } from '../../lib/queries.ts';
import { usePreference } from '../../lib/use-preference.ts';
import { useRepository } from '../shell/repository-context.tsx';

const ageSeconds = 14 * 24 * 3600;

/** Without rules a repository keeps everything forever. After two weeks of growth that is worth a hint. */
export function CollectionHint(): ReactNode {
  const repository = useRepository();
  const [dismissed, setDismissed] = usePreference<boolean>(`dismissed:collection:${repository.id}`, false);
  const [now] = useState(() => Date.now() / 1000);
  const isOld = now - repository.creation_date > ageSeconds;
  const type = useStorageOf(repository, isOld && !dismissed)?.blockstore_type;
  const concerns = isOld && !dismissed && (type === 's3' || type === 'azure');
  const { data: missing } = useQuery({
    queryKey: ['collection-rules-missing', repository.id],
    async queryFn(): Promise<boolean> {
      try {
        await client.get('/repositories/{repository}/settings/gc_rules', {
          params: { path: { repository: repository.id } },
        });
        return false;
      } catch (error) {
        // Without permission to read the rules, one cannot set them either.
        return isNotFound(error);
      }
    },
    enabled: concerns,
    staleTime: 600_000,
  });
  if (!concerns || missing !== true) return null;
  return (
    <div className="hint">
      <Notice title="Nothing is ever collected here">
        <div className="row nowrap">
          <span className="grow">
            Deleted and replaced objects stay in the store until{' '}
            <Link to="/repositories/$repo/settings/retention" params={{ repo: repository.id }}>
              garbage collection rules
            </Link>{' '}
            say how long they are kept.
          </span>
          <CloseButton aria-label="Dismiss this hint" onClick={() => setDismissed(true)} />
        </div>
      </Notice>
    </div>
  );
}
