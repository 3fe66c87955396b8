import { Checkbox, Radio, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ApiError } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Notice, Snippet } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { MetadataFields } from '../../kit/metadata-fields.tsx';
import { client } from '../../lib/api.ts';
import { plural } from '../../lib/format.ts';
import { checkMetadata, toMetadata } from '../../lib/metadata-rules.ts';
import type { MetadataPair } from '../../lib/metadata-rules.ts';
import { useWrite } from '../../lib/queries.ts';
import { mergeSnippet } from '../../lib/snippets.ts';
import { RefRuns } from '../actions/commit-runs.tsx';
import { useRepository } from '../shell/repository-context.tsx';
import { findConflicts, refsSource } from './sources.ts';

/** Paths changed on both sides; the answer to a refused merge does not name them, the difference does. */
export function ConflictNotice({
  repository,
  source,
  destination,
}: {
  repository: string;
  source: string;
  destination: string;
}): ReactNode {
  const { data } = useQuery({
    queryKey: ['conflicts', repository, source, destination],
    queryFn: () => findConflicts(refsSource(repository, destination, source)),
    staleTime: 0,
  });
  return (
    <Notice
      kind="error"
      title={data === undefined ? 'The branches conflict' : plural(data.length, 'conflicting path')}
    >
      <div>
        Both <strong>{source}</strong> and <strong>{destination}</strong> changed{' '}
        {data?.length === 1 ? 'this object' : 'these objects'}. Nothing was merged. Choose whose version wins
        below, or make them agree on {source} first.
      </div>
      {data !== undefined && (
        <ul className="conflict-paths">
          {data.map((path) => (
            <li key={path} className="mono wrap">
              {path}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

export function MergeDialog({
  source,
  destination,
  onClose,
  onDone,
}: {
  source: string;
  destination: string;
  onClose: () => void;
  onDone: () => void;
}): ReactNode {
  const repository = useRepository();
  const [message, setMessage] = useState('');
  const [strategy, setStrategy] = useState('');
  const [squash, setSquash] = useState(false);
  const [metadata, setMetadata] = useState<MetadataPair[]>([]);
  const [touched, setTouched] = useState(false);
  const merge = useWrite(
    () =>
      client.post('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
        params: { path: { repository: repository.id, sourceRef: source, destinationBranch: destination } },
        body: {
          message,
          metadata: toMetadata(metadata),
          ...(strategy !== '' && { strategy }),
          ...(squash && { squash_merge: true }),
        },
      }),
    ({ reference }) => {
      notifications.show({
        title: 'Merged',
        message: `${source} into ${destination}: ${reference.slice(0, 12)}`,
        autoClose: 4000,
      });
      onDone();
    },
  );
  const conflicts = merge.error instanceof ApiError && merge.error.isConflict;
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={`Merge ${source} into ${destination}`}
      action="Merge"
      size={600}
      busy={merge.isPending}
      error={conflicts ? undefined : merge.error}
      onSubmit={() => {
        setTouched(true);
        if (checkMetadata(metadata).every((error) => error === undefined)) merge.mutate(undefined);
      }}
    >
      {conflicts && <ConflictNotice repository={repository.id} source={source} destination={destination} />}
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
      <Radio.Group label="When both sides changed the same object" value={strategy} onChange={setStrategy}>
        <div className="stack tight after">
          <Radio value="" label="Stop and show the conflicts" />
          <Radio value="source-wins" label={`Take the version of ${source}`} />
          <Radio value="dest-wins" label={`Keep the version of ${destination}`} />
        </div>
      </Radio.Group>
      <Checkbox
        label="Squash: one commit with one parent"
        checked={squash}
        onChange={(event) => setSquash(event.currentTarget.checked)}
      />
      <MetadataFields pairs={metadata} onChange={setMetadata} touched={touched} />
      <Snippet code={mergeSnippet(repository.id, source, destination)} />
    </FormDialog>
  );
}
