import { ApiError } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { Skeletons } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import type { ObjectStats } from '../../lib/api.ts';
import { extensionOf } from '../../lib/file-kind.ts';
import { editableBytes, fetchText } from '../../lib/object-data.ts';
import { baseName } from '../../lib/paths.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';

const CodeEditor = lazy(async () => ({ default: (await import('../../kit/code-view.tsx')).CodeEditor }));

/** Changes the text of an object on a branch; what somebody else has written meanwhile is not overwritten. */
export function EditDialog({
  stat,
  branch,
  onClose,
}: {
  stat: ObjectStats;
  branch: string;
  onClose: () => void;
}): ReactNode {
  const repository = useRepository().id;
  const { path } = stat;
  const [edited, setEdited] = useState<string>();
  const { data, error } = useQuery({
    queryKey: ['text-to-edit', repository, branch, path, stat.checksum],
    queryFn: ({ signal }) => fetchText(repository, branch, path, { limit: editableBytes, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const save = useWrite(async (text: string) => {
    const now = await client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
      params: { path: { repository, ref: branch }, query: { path } },
    });
    if (now.checksum !== stat.checksum) {
      throw new ApiError(
        412,
        'the object was changed since it was opened: copy your text, close, and open it again',
        {},
      );
    }
    await client.objects.upload({
      repository,
      branch,
      path,
      body: new Blob([text]),
      contentType: stat.content_type,
      metadata: stat.metadata,
    });
  }, onClose);
  const isChanged = edited !== undefined && edited !== data?.text;
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={`Edit ${baseName(path)}`}
      action="Save"
      size={1080}
      busy={save.isPending}
      error={save.error ?? error}
      disabled={!isChanged}
      onSubmit={() => edited !== undefined && save.mutate(edited)}
    >
      {data === undefined ? (
        <Skeletons />
      ) : (
        <Suspense fallback={<Skeletons />}>
          <CodeEditor
            value={data.text}
            onChange={setEdited}
            extension={extensionOf(path)}
            label={`Text of ${baseName(path)}`}
            minHeight={320}
          />
        </Suspense>
      )}
      <span className="small muted">
        The change stays uncommitted on <strong>{branch}</strong> until somebody commits it.
      </span>
    </FormDialog>
  );
}
