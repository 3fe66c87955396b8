import { ActionIcon, Button, TextInput } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FolderUp, Upload, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Notice } from '../../kit/basics.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { formatBytes, plural } from '../../lib/format.ts';
import { rulesFor } from '../../lib/protection.ts';
import { useStorageOf } from '../../lib/queries.ts';
import { startUpload } from '../../lib/works.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { filesOfDrop, filesOfInput } from './picked-files.ts';
import type { PickedFile } from './picked-files.ts';

interface Row {
  readonly file: File;
  readonly name: string;
  /** Edited by hand, so it no longer follows the common folder. */
  readonly destination?: string | undefined;
}

const shownRows = 200;

export function UploadDialog({
  branch,
  prefix,
  initial,
  onClose,
}: {
  branch: string;
  prefix: string;
  initial: readonly PickedFile[];
  onClose: () => void;
}): ReactNode {
  const repository = useRepository();
  const storage = useStorageOf(repository);
  const [folder, setFolder] = useState(prefix);
  const [rows, setRows] = useState<readonly Row[]>(initial);
  const [over, setOver] = useState(false);
  const files = useRef<HTMLInputElement>(null);
  const folders = useRef<HTMLInputElement>(null);
  // Asked before files are chosen: a protected branch refuses them all, a missing permission too.
  const allowed = useQuery({
    queryKey: ['stage-allowed', repository.id, branch],
    queryFn: async () => {
      const path = { repository: repository.id, branch };
      await client.get('/repositories/{repository}/branches/{branch}/objects/stage_allowed', {
        params: { path, query: { path: `${prefix}new` } },
      });
      // Without permission to read the rules, the upload itself reports them.
      const rules = await client
        .get('/repositories/{repository}/settings/branch_protection', { params: { path } })
        .catch(() => []);
      const [rule] = rulesFor(
        branch,
        rules.map(({ pattern }) => pattern),
      );
      if (rule !== undefined) {
        throw new ApiError(403, `branch ${branch} is protected by the rule ${rule}`, {});
      }
      return true;
    },
    staleTime: 0,
  });
  useEffect(() => {
    folders.current?.setAttribute('webkitdirectory', '');
  }, []);
  const add = (picked: readonly PickedFile[]): void => setRows((was) => [...was, ...picked]);
  const set = (index: number, change: Partial<Row>): void =>
    setRows((was) => was.map((row, i) => (i === index ? { ...row, ...change } : row)));
  const destinationOf = (row: Row): string => row.destination ?? folder + row.name;
  const start = (): void => {
    const files = rows.map((row) => ({ file: row.file, path: destinationOf(row) }));
    void startUpload({ repository: repository.id, branch, storage }, files);
    onClose();
  };

  const total = rows.reduce((sum, row) => sum + row.file.size, 0);
  return (
    <Dialog opened onClose={onClose} title={`Upload to ${branch}`} size={680}>
      <div className="stack">
        {allowed.error !== null && (
          <>
            <ErrorNotice error={allowed.error} />
            <div>
              <Link to="/repositories/$repo/settings/branches" params={{ repo: repository.id }}>
                See the branch protection rules
              </Link>{' '}
              or upload to another branch.
            </div>
          </>
        )}
        {storage?.blockstore_type === 'mem' && (
          <Notice kind="warn">This server keeps data in memory: it is lost when the server restarts.</Notice>
        )}
        <div
          className={`drop-zone ${over ? 'over' : ''}`}
          role="group"
          aria-label="Drop files here"
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            event.stopPropagation();
            setOver(false);
            void filesOfDrop(event.dataTransfer).then(add);
          }}
        >
          <p className="drop-hint">Drop files or folders here, or choose them</p>
          <div className="row centred">
            <Button
              data-autofocus
              variant="default"
              leftSection={<Upload size={15} />}
              disabled={allowed.error !== null}
              onClick={() => files.current?.click()}
            >
              Choose files
            </Button>
            <Button
              variant="default"
              leftSection={<FolderUp size={15} />}
              disabled={allowed.error !== null}
              onClick={() => folders.current?.click()}
            >
              Choose a folder
            </Button>
          </div>
          <input
            ref={files}
            type="file"
            multiple
            hidden
            aria-label="Files"
            onChange={(event) => {
              add(filesOfInput(event.currentTarget));
              event.currentTarget.value = '';
            }}
          />
          <input
            ref={folders}
            type="file"
            hidden
            aria-label="Folder"
            onChange={(event) => add(filesOfInput(event.currentTarget))}
          />
        </div>
        <TextInput
          label="Destination folder"
          description="Put before every name below; empty is the root"
          placeholder="folder/"
          value={folder}
          onChange={(event) => setFolder(event.currentTarget.value)}
          onBlur={() => setFolder((was) => (was === '' || was.endsWith('/') ? was : `${was}/`))}
        />
        {rows.length > 0 && (
          <div className="box upload-list">
            {rows.slice(0, shownRows).map((row, index) => (
              <div key={index} className="row nowrap upload-row">
                <div className="grow">
                  <TextInput
                    variant="unstyled"
                    size="xs"
                    aria-label={`Destination of ${row.name}`}
                    value={destinationOf(row)}
                    onChange={(event) => set(index, { destination: event.currentTarget.value })}
                  />
                </div>
                <span className="small muted num">{formatBytes(row.file.size)}</span>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={26}
                  aria-label={`Leave out ${row.name}`}
                  onClick={() => setRows((was) => was.filter((_, i) => i !== index))}
                >
                  <X size={14} />
                </ActionIcon>
              </div>
            ))}
            {rows.length > shownRows && (
              <div className="box-body muted">and {plural(rows.length - shownRows, 'more file')}</div>
            )}
          </div>
        )}
        <div className="row">
          <span className="muted small" role="status">
            {plural(rows.length, 'file')}, {formatBytes(total)}
          </span>
          <div className="right row">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button disabled={rows.length === 0 || allowed.error !== null} onClick={start}>
              Upload
            </Button>
          </div>
        </div>
      </div>
    </Dialog>
  );
}
