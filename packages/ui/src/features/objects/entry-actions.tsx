import { Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useNavigate } from '@tanstack/react-router';
import { Copy, Download, Files, FolderInput, History, Info, RotateCcw, Sigma, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { copyText } from '../../kit/copy-text.ts';
import { client } from '../../lib/api.ts';
import { explain } from '../../lib/explain.ts';
import { formatBytes, plural } from '../../lib/format.ts';
import { archiveUrl, baseName, objectUrl, s3Uri, svcUri } from '../../lib/paths.ts';
import { useStorageOf } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { EntryButton } from './entry-menu.tsx';
import type { EntryMenuProps } from './entry-menu.tsx';
import { summarise } from './summarise.ts';

/** The menu of an entry, open from the start. */
export function OpenedEntryMenu(props: EntryMenuProps): ReactNode {
  return (
    <Menu position="bottom-end" withinPortal defaultOpened>
      <Menu.Target>
        <EntryButton path={props.entry.path} />
      </Menu.Target>
      <Menu.Dropdown>
        <EntryActions {...props} />
      </Menu.Dropdown>
    </Menu>
  );
}

function EntryActions({ entry, refName, isBranch, canWrite, canDelete, onAsk }: EntryMenuProps): ReactNode {
  const repository = useRepository();
  const storage = useStorageOf(repository);
  const navigate = useNavigate();
  const { path } = entry;
  const isFolder = entry.path_type === 'common_prefix';
  const at = { repository: repository.id, ref: refName };

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
    copyText(stat.physical_address, 'Pre-signed URL');
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
      {isFolder && entry.mark !== 'removed' && (
        <Menu.Item
          leftSection={<Download size={15} />}
          component="a"
          href={archiveUrl({ repository: repository.id, ref: refName, prefix: path })}
          download
        >
          Download
        </Menu.Item>
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
        onClick={() => copyText(svcUri(repository.id, refName, path), 'URI')}
      >
        Copy URI
      </Menu.Item>
      <Menu.Item
        leftSection={<Copy size={15} />}
        onClick={() => copyText(s3Uri(repository.id, refName, path), 'S3 URI')}
      >
        Copy S3 URI
      </Menu.Item>
      {!isFolder && (
        <Menu.Item
          leftSection={<Copy size={15} />}
          onClick={() =>
            copyText(new URL(objectUrl(repository.id, refName, path), globalThis.location.href).href, 'Link')
          }
        >
          Copy download link
        </Menu.Item>
      )}
      {!isFolder && storage?.pre_sign_support === true && (
        <Menu.Item leftSection={<Copy size={15} />} onClick={() => guard(presign())}>
          Copy pre-signed URL
        </Menu.Item>
      )}
      {entry.mark !== 'removed' && repository.read_only !== true && (
        <>
          <Menu.Divider />
          {canWrite && canDelete && isBranch && (
            <Menu.Item
              leftSection={<FolderInput size={15} />}
              onClick={() => onAsk({ what: 'move', entries: [entry] })}
            >
              Move or rename
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<Files size={15} />}
            onClick={() => onAsk({ what: 'copy', entries: [entry] })}
          >
            Copy to …
          </Menu.Item>
        </>
      )}
      {canWrite && isBranch && (
        <>
          <Menu.Divider />
          {changed && (
            <Menu.Item
              leftSection={<RotateCcw size={15} />}
              onClick={() => onAsk({ what: 'reset', entries: [entry] })}
            >
              Undo uncommitted changes
            </Menu.Item>
          )}
          {entry.mark !== 'removed' && canDelete && (
            <Menu.Item
              leftSection={<Trash2 size={15} />}
              c="var(--svc-removed)"
              onClick={() => onAsk({ what: 'delete', entries: [entry] })}
            >
              Delete
            </Menu.Item>
          )}
        </>
      )}
    </>
  );
}
