import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown, Files, FolderInput, Pencil, Trash2, Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Hint } from '../../kit/hint.tsx';
import { onDemand } from '../../kit/on-demand.tsx';
import type { ObjectStats } from '../../lib/api.ts';
import { explain } from '../../lib/explain.ts';
import type { FileKind } from '../../lib/file-kind.ts';
import { editableBytes } from '../../lib/object-data.ts';
import { baseName, parentOf } from '../../lib/paths.ts';
import { useStorageOf, useWrite } from '../../lib/queries.ts';
import { uploadFile } from '../../lib/upload-file.ts';
import type { EntryRequest } from '../objects/entry-dialogs.tsx';
import { useRepository } from '../shell/repository-context.tsx';

const EditDialog = onDemand(async () => (await import('./edit-dialog.tsx')).EditDialog);
const EntryDialogs = onDemand(async () => (await import('../objects/entry-dialogs.tsx')).EntryDialogs);

const editable: ReadonlySet<FileKind> = new Set(['text', 'markdown']);

/** What can be done with the object that is shown. */
export function ObjectMenu({
  stat,
  refName,
  kind,
  readOnlyReason,
}: {
  stat: ObjectStats;
  refName: string;
  kind: FileKind;
  readOnlyReason: string | undefined;
}): ReactNode {
  const repository = useRepository();
  const storage = useStorageOf(repository);
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [editing, setEditing] = useState(false);
  const [asked, setAsked] = useState<EntryRequest>();
  const { path } = stat;
  const ask = (what: EntryRequest['what']): void =>
    setAsked({ what, entries: [{ path, path_type: 'object', size_bytes: stat.size_bytes }] });
  const replace = useWrite(
    (file: File) =>
      uploadFile({
        repository: repository.id,
        branch: refName,
        path,
        file,
        storage,
        signal: new AbortController().signal,
        onProgress: () => undefined,
      }),
    (_done, file) => notifications.show({ message: `${baseName(path)} now holds ${file.name}` }),
  );
  const isEditable =
    editable.has(kind) || (kind === 'table' && /\.(csv|tsv)$/i.test(path)) || /\.jsonl?$/i.test(path);
  const canEdit = isEditable && (stat.size_bytes ?? 0) <= editableBytes;
  const isFrozen = readOnlyReason !== undefined;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={14} />} loading={replace.isPending}>
            Change
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {isFrozen && <Menu.Label>{readOnlyReason}</Menu.Label>}
          {isEditable && (
            <Hint label={canEdit ? undefined : 'Only texts up to 256 KB are edited here'}>
              <Menu.Item
                leftSection={<Pencil size={15} />}
                disabled={isFrozen || !canEdit}
                onClick={() => setEditing(true)}
              >
                Edit
              </Menu.Item>
            </Hint>
          )}
          <Menu.Item
            leftSection={<Upload size={15} />}
            disabled={isFrozen}
            onClick={() => input.current?.click()}
          >
            Replace with a file …
          </Menu.Item>
          <Menu.Item leftSection={<FolderInput size={15} />} disabled={isFrozen} onClick={() => ask('move')}>
            Move or rename
          </Menu.Item>
          {repository.read_only !== true && (
            <Menu.Item leftSection={<Files size={15} />} onClick={() => ask('copy')}>
              Copy to …
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            leftSection={<Trash2 size={15} />}
            c="var(--svc-removed)"
            disabled={isFrozen}
            onClick={() => ask('delete')}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File that replaces this object"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = '';
          if (file === undefined) return;
          replace.mutate(file, {
            onError: (error) =>
              notifications.show({
                color: 'danger',
                title: explain(error).title,
                message: explain(error).text,
              }),
          });
        }}
      />
      {editing && <EditDialog stat={stat} branch={refName} onClose={() => setEditing(false)} />}
      {asked !== undefined && (
        <EntryDialogs
          asked={asked}
          refName={refName}
          isBranch={!isFrozen}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            if (asked.what === 'copy') return;
            void navigate({
              to: '/repositories/$repo/objects',
              params: { repo: repository.id },
              search: { ref: refName, path: parentOf(path) || undefined },
            });
          }}
        />
      )}
    </>
  );
}
