import { Button, Progress } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { Notice } from '../../kit/basics.tsx';
import { formatBytes, plural } from '../../lib/format.ts';
import { baseName } from '../../lib/paths.ts';
import type { UploadWork } from '../../lib/upload-work.ts';
import { forgetUpload } from '../../lib/works.ts';

const shownRows = 20;
/** An upload without problems needs nobody's attention. */
const doneShownMs = 4000;

/** One upload: how far it is, what stopped, and what to do about it. */
export function UploadItem({ work }: { work: UploadWork }): ReactNode {
  const { rows, state, place } = work;
  const total = rows.reduce((sum, { file }) => sum + file.size, 0);
  const sent = rows.reduce((sum, row) => sum + (row.state === 'done' ? row.file.size : row.sent), 0);
  const done = work.count('done');
  const failed = work.count('failed');
  const present = work.count('present');
  const isDone = state === 'ended' && failed + present === 0;
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => forgetUpload(work), doneShownMs);
    return () => clearTimeout(timer);
  }, [isDone, work]);
  const told = rows.filter(
    (row) => row.state === 'sending' || row.state === 'failed' || row.state === 'present',
  );
  return (
    <div className="stack tight">
      <div role="status">
        {isDone ? 'Uploaded' : state === 'paused' ? 'Paused:' : 'Uploading'} {plural(rows.length, 'file')} to{' '}
        <Link
          className="underlined"
          to="/repositories/$repo/objects"
          params={{ repo: place.repository }}
          search={{ ref: place.branch }}
        >
          {place.branch}
        </Link>{' '}
        of {place.repository}
        {!isDone && (
          <div className="small muted">
            {done} of {rows.length} done, {formatBytes(sent)} of {formatBytes(total)}
            {failed > 0 && `, ${failed} failed`}
          </div>
        )}
      </div>
      {!isDone && (
        <Progress
          size="sm"
          value={(sent / Math.max(1, total)) * 100}
          aria-label={`Progress of the upload to ${place.branch}`}
        />
      )}
      {told.length > 0 && (
        <ul className="tray-files small">
          {told.slice(0, shownRows).map((row) => (
            <li key={row.path} title={row.path}>
              <div className="row nowrap">
                <span className="ellipsis">{baseName(row.path)}</span>
                <span className="right muted num">
                  {row.state === 'sending'
                    ? `${Math.floor((row.sent / Math.max(1, row.file.size)) * 100)} %`
                    : formatBytes(row.file.size)}
                </span>
              </div>
              {row.reason !== undefined && <div className="failure">{row.reason}</div>}
            </li>
          ))}
          {told.length > shownRows && <li className="muted">and {told.length - shownRows} more</li>}
        </ul>
      )}
      {present > 0 && state !== 'running' && (
        <Notice kind="warn" title={`${plural(present, 'object')} would be replaced`}>
          <div className="row">
            <Button size="compact-sm" color="danger" onClick={() => work.replace()}>
              Replace
            </Button>
            <Button size="compact-sm" variant="default" onClick={() => work.leaveOut()}>
              Leave out
            </Button>
          </div>
        </Notice>
      )}
      <div className="row">
        {state === 'running' && (
          <Button size="compact-sm" variant="default" onClick={() => work.pause()}>
            Pause
          </Button>
        )}
        {state === 'paused' && (
          <Button size="compact-sm" onClick={() => void work.start()}>
            Go on
          </Button>
        )}
        {state === 'ended' && failed > 0 && (
          <Button size="compact-sm" onClick={() => work.retry()}>
            Retry failed
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={() => forgetUpload(work)}>
          {state === 'ended' ? 'Close' : 'Stop'}
        </Button>
      </div>
    </div>
  );
}
