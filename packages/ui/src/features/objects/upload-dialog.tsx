import { ActionIcon, Button, Progress, TextInput } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, FolderUp, Upload, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Notice } from '../../kit/basics.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { explain } from '../../lib/explain.ts';
import { formatBytes, plural } from '../../lib/format.ts';
import { rulesFor } from '../../lib/protection.ts';
import { refreshAll, useStorageOf } from '../../lib/queries.ts';
import { uploadFile } from '../../lib/upload-file.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { filesOfDrop, filesOfInput } from './picked-files.ts';
import type { PickedFile } from './picked-files.ts';

interface Row {
  readonly file: File;
  readonly name: string;
  /** Edited by hand, so it no longer follows the common folder. */
  readonly destination?: string | undefined;
  readonly sent: number;
  /** `present`: there is an object already, and nobody has said that it may be replaced. */
  readonly state: 'waiting' | 'sending' | 'done' | 'failed' | 'present';
  readonly reason?: string | undefined;
}

const parallel = 5;
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
  const [rows, setRows] = useState<Row[]>(() =>
    initial.map(({ file, name }) => ({ file, name, sent: 0, state: 'waiting' })),
  );
  const [running, setRunning] = useState<AbortController>();
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
  useEffect(() => {
    if (running === undefined) return undefined;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    globalThis.addEventListener('beforeunload', warn);
    return () => globalThis.removeEventListener('beforeunload', warn);
  }, [running]);

  const add = (picked: readonly PickedFile[]): void =>
    setRows((was) => [
      ...was,
      ...picked.map(({ file, name }): Row => ({ file, name, sent: 0, state: 'waiting' })),
    ]);
  const set = (index: number, change: Partial<Row>): void =>
    setRows((was) => was.map((row, i) => (i === index ? { ...row, ...change } : row)));
  const destinationOf = (row: Row): string => row.destination ?? folder + row.name;

  const start = async (replace = false): Promise<void> => {
    const abort = new AbortController();
    setRunning(abort);
    const queue = rows
      .map((row, index) => ({ row, index }))
      .filter(({ row }) => (replace ? row.state === 'present' : row.state !== 'done'));
    let failed = 0;
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined && !abort.signal.aborted; next = queue.shift()) {
        const { row, index } = next;
        set(index, { state: 'sending', sent: 0, reason: undefined });
        try {
          await uploadFile({
            repository: repository.id,
            branch,
            path: destinationOf(row),
            file: row.file,
            storage,
            ifAbsent: !replace,
            signal: abort.signal,
            onProgress: (sent) => set(index, { sent }),
          });
          set(index, { state: 'done' });
        } catch (error) {
          failed++;
          if (!replace && error instanceof ApiError && error.status === 412) {
            set(index, { state: 'present', reason: 'There is an object at this path already' });
            continue;
          }
          set(index, { state: 'failed', reason: abort.signal.aborted ? 'cancelled' : explain(error).text });
        }
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
    setRunning(undefined);
    await refreshAll();
    if (failed === 0 && !abort.signal.aborted) onClose();
  };

  const total = rows.reduce((sum, row) => sum + row.file.size, 0);
  const sent = rows.reduce((sum, row) => sum + (row.state === 'done' ? row.file.size : row.sent), 0);
  const failed = rows.filter(({ state }) => state === 'failed').length;
  const present = rows.filter(({ state }) => state === 'present').length;
  const busy = running !== undefined;
  return (
    <Dialog opened onClose={onClose} busy={busy} title={`Upload to ${branch}`} size={680}>
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
              disabled={busy || allowed.error !== null}
              onClick={() => files.current?.click()}
            >
              Choose files
            </Button>
            <Button
              variant="default"
              leftSection={<FolderUp size={15} />}
              disabled={busy || allowed.error !== null}
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
          disabled={busy}
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
                    disabled={busy || row.state === 'done'}
                    onChange={(event) => set(index, { destination: event.currentTarget.value })}
                  />
                  {row.state === 'sending' && (
                    <Progress
                      size="xs"
                      value={(row.sent / Math.max(1, row.file.size)) * 100}
                      aria-label={`Progress of ${row.name}`}
                    />
                  )}
                  {row.reason !== undefined && <div className="small failure">{row.reason}</div>}
                </div>
                <span className="small muted num">{formatBytes(row.file.size)}</span>
                {row.state === 'done' && (
                  <CircleCheck size={16} aria-label="uploaded" color="var(--svc-added)" />
                )}
                {(row.state === 'failed' || row.state === 'present') && (
                  <CircleAlert
                    size={16}
                    aria-label={row.state === 'failed' ? 'failed' : 'there already'}
                    color="var(--svc-removed)"
                  />
                )}
                {!busy && row.state !== 'done' && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size={26}
                    aria-label={`Leave out ${row.name}`}
                    onClick={() => setRows((was) => was.filter((_, i) => i !== index))}
                  >
                    <X size={14} />
                  </ActionIcon>
                )}
              </div>
            ))}
            {rows.length > shownRows && (
              <div className="box-body muted">and {plural(rows.length - shownRows, 'more file')}</div>
            )}
          </div>
        )}
        {present > 0 && !busy && (
          <Notice kind="warn" title={`${plural(present, 'object')} would be replaced`}>
            <div className="row">
              <Button size="compact-sm" color="danger" onClick={() => void start(true)}>
                Replace
              </Button>
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => setRows((was) => was.filter(({ state }) => state !== 'present'))}
              >
                Leave out
              </Button>
            </div>
          </Notice>
        )}
        {busy && <Progress value={(sent / Math.max(1, total)) * 100} aria-label="Progress of the upload" />}
        <div className="row">
          <span className="muted small" role="status">
            {plural(rows.length, 'file')}, {formatBytes(total)}
            {busy && ` · ${formatBytes(sent)} sent`}
            {failed > 0 && ` · ${failed} failed`}
          </span>
          <div className="right row">
            <Button variant="default" onClick={() => (busy ? running.abort() : onClose())}>
              {busy ? 'Stop' : 'Cancel'}
            </Button>
            <Button
              loading={busy}
              disabled={
                rows.every(({ state }) => state === 'done' || state === 'present') || allowed.error !== null
              }
              onClick={() => void start()}
            >
              {failed > 0 ? 'Retry failed' : 'Upload'}
            </Button>
          </div>
        </div>
      </div>
    </Dialog>
  );
}
