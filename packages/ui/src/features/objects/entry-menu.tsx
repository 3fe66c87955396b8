import { ActionIcon, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useNavigate } from '@tanstack/react-router';
import { Copy, Download, EllipsisVertical, History, Info, RotateCcw, Sigma, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { explain } from '../../lib/explain.ts';
import { formatBytes, plural } from '../../lib/format.ts';
import type { MarkedEntry } from '../../lib/listing.ts';
import { baseName, objectUrl, s3Uri, svcUri } from '../../lib/paths.ts';
import { useStorageOf, useWrite } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { deletePrefix } from './delete-prefix.ts';
import { summarise } from './summarise.ts';

function copy(text: string, what: string): void {
  void navigator.clipboard.writeText(text);
  notifications.show({ message: `${what} copied`, autoClose: 2000 });
}

/** What can be done with an object or a folder. */
export function EntryMenu({
  entry,
  refName,
  isBranch,
  canWrite,
}: {
  entry: MarkedEntry;
  refName: string;
  isBranch: boolean;
  canWrite: boolean;
}): ReactNode {
  const repository = useRepository();
  const storage = useStorageOf(repository);
  const navigate = useNavigate();
  const [asking, setAsking] = useState<'delete' | 'reset'>();
  const { path } = entry;
  const isFolder = entry.path_type === 'common_prefix';
  const at = { repository: repository.id, ref: refName };

  const reset = useWrite(
    () =>
      client.put('/repositories/{repository}/branches/{branch}', {
        params: { path: { repository: repository.id, branch: refName } },
        body: { type: isFolder ? 'common_prefix' : 'object', path },
      }),
    () => setAsking(undefined),
  );
  const remove = useWrite(
    async () => {
      if (isFolder) return await deletePrefix(repository.id, refName, path);
      await client.delete('/repositories/{repository}/branches/{branch}/objects', {
        params: { path: { repository: repository.id, branch: refName }, query: { path } },
      });
      return 1;
    },
    (count) => {
      setAsking(undefined);
      notifications.show({
        title: `${isFolder ? plural(count, 'object') : baseName(path)} deleted`,
        message: (
          <button
            type="button"
            className="plain"
            style={{ textDecoration: 'underline' }}
            onClick={() => reset.mutate(undefined)}
          >
            Undo
          </button>
        ),
        autoClose: 10_000,
      });
    },
  );
  const lastCommit = async (): Promise<void> => {
    const { results } = await client.get('/repositories/{repository}/refs/{ref}/commits', {
      params: {
        path: at,
        query: { amount: 1, limit: true, ...(isFolder ? { prefixes: [path] } : { objects: [path] }) },
      },
    });
    const [commit] = results;
    if (commit === undefined) notifications.show({ message: 'Not committed yet' });
    else
      await navigate({
        to: '/repositories/$repo/commits/$commitId',
        params: { repo: repository.id, commitId: commit.id },
      });
  };
  const presign = async (): Promise<void> => {
    const stat = await client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
      params: { path: at, query: { path, presign: true } },
    });
    copy(stat.physical_address, 'Pre-signed URL');
  };
  const size = async (): Promise<void> => {
    const id = notifications.show({ message: `Counting ${path} …`, loading: true, autoClose: false });
    const sum = await summarise(repository.id, refName, path);
    notifications.update({
      id,
      loading: false,
      autoClose: 10_000,
      title: path,
      message: `${plural(sum.objects, 'object')}${sum.complete ? '' : ' and more'}, ${formatBytes(sum.bytes)}`,
    });
  };
  const guard = (work: Promise<void>): void => {
    work.catch((error: unknown) =>
      notifications.show({ color: 'danger', title: explain(error).title, message: explain(error).text }),
    );
  };
  const changed = isBranch && entry.mark !== undefined;

  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={26} aria-label={`Actions for ${path}`}>
            <EllipsisVertical size={15} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!isFolder && entry.mark !== 'removed' && (
            <>
              <Menu.Item
                leftSection={<Download size={15} />}
                component="a"
                href={objectUrl(repository.id, refName, path)}
                download={baseName(path)}
              >
                Download
              </Menu.Item>
              <Menu.Item
                leftSection={<Info size={15} />}
                onClick={() =>
                  void navigate({
                    to: '/repositories/$repo/object',
                    params: { repo: repository.id },
                    search: { ref: refName, path, tab: 'info' },
                  })
                }
              >
                Information
              </Menu.Item>
            </>
          )}
          <Menu.Item leftSection={<History size={15} />} onClick={() => guard(lastCommit())}>
            Last commit
          </Menu.Item>
          {isFolder && (
            <Menu.Item leftSection={<Sigma size={15} />} onClick={() => guard(size())}>
              Size of folder
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            leftSection={<Copy size={15} />}
            onClick={() => copy(svcUri(repository.id, refName, path), 'URI')}
          >
            Copy URI
          </Menu.Item>
          <Menu.Item
            leftSection={<Copy size={15} />}
            onClick={() => copy(s3Uri(repository.id, refName, path), 'S3 URI')}
          >
            Copy S3 URI
          </Menu.Item>
          {!isFolder && storage?.pre_sign_support === true && (
            <Menu.Item leftSection={<Copy size={15} />} onClick={() => guard(presign())}>
              Copy pre-signed URL
            </Menu.Item>
          )}
          {canWrite && isBranch && (
            <>
              <Menu.Divider />
              {changed && (
                <Menu.Item leftSection={<RotateCcw size={15} />} onClick={() => setAsking('reset')}>
                  Undo uncommitted changes
                </Menu.Item>
              )}
              {entry.mark !== 'removed' && (
                <Menu.Item
                  leftSection={<Trash2 size={15} />}
                  c="var(--svc-removed)"
                  onClick={() => setAsking('delete')}
                >
                  Delete
                </Menu.Item>
              )}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={asking === 'delete'}
        onClose={() => setAsking(undefined)}
        title={isFolder ? 'Delete folder' : 'Delete object'}
        action="Delete"
        busy={remove.isPending}
        error={remove.error}
        onSubmit={() => remove.mutate(undefined)}
      >
        Delete <code className="wrap">{path}</code> {isFolder && 'and everything in it '}from branch{' '}
        <strong>{refName}</strong>? Until the change is committed it can be undone.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'reset'}
        onClose={() => setAsking(undefined)}
        title="Undo uncommitted changes"
        action="Undo changes"
        busy={reset.isPending}
        error={reset.error}
        onSubmit={() => reset.mutate(undefined)}
      >
        Return <code className="wrap">{path}</code> to what the last commit of <strong>{refName}</strong>{' '}
        holds? What was not committed is lost.
      </ConfirmDialog>
    </>
  );
}
