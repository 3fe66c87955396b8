import { Checkbox, Radio, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ApiError } from '@svc/client';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Notice, Snippet } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { MetadataFields } from '../../kit/metadata-fields.tsx';
import { client } from '../../lib/api.ts';
import type { MergeConflicts, Resolution } from '../../lib/api.ts';
import { explain } from '../../lib/explain.ts';
import { plural } from '../../lib/format.ts';
import { checkMetadata, toMetadata } from '../../lib/metadata-rules.ts';
import type { MetadataPair } from '../../lib/metadata-rules.ts';
import { refreshAll, useWrite } from '../../lib/queries.ts';
import { mergeSnippet } from '../../lib/snippets.ts';
import { RefRuns } from '../actions/commit-runs.tsx';
import { useRepository } from '../shell/repository-context.tsx';

/** How conflicts are settled, and the commits that were looked at while choosing. */
export interface MergeSteering {
  readonly expected_source: string;
  readonly expected_destination: string;
  readonly resolutions: Resolution[];
}

/** What became of a merge that conflicts stopped. */
function ConflictNotice({ error }: { error: ApiError }): ReactNode {
  const { unresolved, results = [] } = (error.body ?? {}) as Partial<MergeConflicts>;
  return (
    <Notice
      kind="error"
      title={
        unresolved === undefined ? 'The branches conflict' : `${plural(unresolved, 'conflict')} not settled`
      }
    >
      <div>
        Nothing was merged. Choose below whose version wins, or close this and settle the conflicts one by
        one.
      </div>
      {results.length > 0 && (
        <ul className="conflict-paths">
          {results.map(({ path, table }) => (
            <li key={path} className="mono wrap">
              {path}
              {table !== undefined && ` (table ${table})`}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

/** Merges one branch into another, on its own or as a pull request. */
export function MergeDialog({
  source,
  destination,
  pull,
  steering,
  onClose,
  onDone,
}: {
  source: string;
  destination: string;
  /** The id of the pull request that is merged. */
  pull?: string;
  steering?: MergeSteering | undefined;
  onClose: () => void;
  onDone: () => void;
}): ReactNode {
  const repository = useRepository();
  const [message, setMessage] = useState('');
  const [strategy, setStrategy] = useState('');
  const [squash, setSquash] = useState(false);
  const [deleteSource, setDeleteSource] = useState(false);
  const [metadata, setMetadata] = useState<MetadataPair[]>([]);
  const [touched, setTouched] = useState(false);
  const merge = useWrite(
    async () => {
      const body = {
        message,
        metadata: toMetadata(metadata),
        ...(strategy !== '' && { strategy }),
        ...(squash && { squash_merge: true }),
        // Even none: a refusal then names what is in conflict.
        resolutions: [],
        ...steering,
      };
      if (pull !== undefined) {
        const path = { repository: repository.id, pull_request: pull };
        return client.put('/repositories/{repository}/pulls/{pull_request}/merge', {
          params: { path },
          body,
        });
      }
      const path = { repository: repository.id, sourceRef: source, destinationBranch: destination };
      return client.post('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
        params: { path },
        body,
      });
    },
    ({ reference }) => {
      notifications.show({
        title: 'Merged',
        message: `${source} into ${destination}: ${reference.slice(0, 12)}`,
        autoClose: 4000,
      });
      if (deleteSource) void deleteBranch(repository.id, source);
      onDone();
    },
  );
  const { error } = merge;
  const conflicts = error instanceof ApiError && error.isConflict ? error : undefined;
  const moved = error instanceof ApiError && movedBy(error) ? error : undefined;
  return (
    <FormDialog
      opened
      onClose={() => {
        // What moved is shown behind the dialog.
        if (moved !== undefined) void refreshAll();
        onClose();
      }}
      title={pull === undefined ? `Merge ${source} into ${destination}` : 'Merge pull request'}
      action="Merge"
      size={600}
      busy={merge.isPending}
      error={conflicts === undefined && moved === undefined ? error : undefined}
      onSubmit={() => {
        setTouched(true);
        if (checkMetadata(metadata).every((wrong) => wrong === undefined)) merge.mutate(undefined);
      }}
    >
      {conflicts !== undefined && <ConflictNotice error={conflicts} />}
      {moved !== undefined && (
        <Notice kind="error" title="The branches moved meanwhile">
          Nothing was merged. Close this and look at the conflicts again: choices for what stayed the same are
          kept.
        </Notice>
      )}
      {steering !== undefined && (
        <Notice kind="info" title="Conflicts are settled as chosen">
          The merge is refused if one of the branches moves before it.
        </Notice>
      )}
      <RefRuns repository={repository.id} refId={source} />
      <Textarea
        data-autofocus
        label="Message"
        placeholder={`Merge '${source}' into '${destination}'`}
        autosize
        minRows={2}
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      {steering === undefined && (
        <Radio.Group label="When both sides changed the same object" value={strategy} onChange={setStrategy}>
          <div className="stack tight after">
            <Radio value="" label="Stop and show the conflicts" />
            <Radio value="source-wins" label={`Take the version of ${source}`} />
            <Radio value="dest-wins" label={`Keep the version of ${destination}`} />
          </div>
        </Radio.Group>
      )}
      <Checkbox
        label="Squash: one commit with one parent"
        checked={squash}
        onChange={(event) => setSquash(event.currentTarget.checked)}
      />
      {pull !== undefined && (
        <Checkbox
          label={`Delete the branch ${source} afterwards`}
          checked={deleteSource}
          onChange={(event) => setDeleteSource(event.currentTarget.checked)}
        />
      )}
      <MetadataFields pairs={metadata} onChange={setMetadata} touched={touched} />
      {steering === undefined && <Snippet code={mergeSnippet(repository.id, source, destination)} />}
    </FormDialog>
  );
}

function movedBy({ status, body }: ApiError): boolean {
  return status === 412 && (body as { moved?: unknown } | undefined)?.moved !== undefined;
}

/** The merge stays whatever becomes of the branch. */
async function deleteBranch(repository: string, branch: string): Promise<void> {
  try {
    await client.delete('/repositories/{repository}/branches/{branch}', {
      params: { path: { repository, branch } },
    });
    await refreshAll();
  } catch (error) {
    notifications.show({ color: 'red', title: `${branch} was not deleted`, message: explain(error).text });
  }
}
