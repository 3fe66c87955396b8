import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Download, ExternalLink } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import {
  CopyButton,
  EmptyState,
  ErrorNotice,
  Skeletons,
  Tag,
  Time,
  usePageTitle,
} from '../../kit/basics.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { SnippetsMenu } from '../../kit/snippets-menu.tsx';
import { UriBar } from '../../kit/uri-bar.tsx';
import type { ObjectStats } from '../../lib/api.ts';
import { fileKind } from '../../lib/file-kind.ts';
import { formatBytes, formatCount, formatTime, shortId } from '../../lib/format.ts';
import { baseName, objectUrl, parentOf, s3Uri, svcUri } from '../../lib/paths.ts';
import { isNotFound, statQuery } from '../../lib/queries.ts';
import { readSnippets } from '../../lib/snippets.ts';
import { useCurrentRef, useRepository } from '../shell/repository-context.tsx';
import { Preview } from './preview.tsx';

const SqlTab = lazy(async () => ({ default: (await import('./sql-tab.tsx')).SqlTab }));
const PathHistory = lazy(async () => ({
  default: (await import('../commits/path-history.tsx')).PathHistory,
}));

export function ObjectPage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/object' });
  const navigate = useNavigate({ from: '/repositories/$repo/object' });
  const path = search.path ?? '';
  const { ref, resolved } = useCurrentRef(search.ref);
  usePageTitle(baseName(path), shortId(ref), repository.id);
  const stat = useQuery(statQuery(repository.id, ref, path));
  const kind = fileKind(path, stat.data?.content_type ?? '');
  const tab = search.tab ?? 'preview';
  const tabs = [
    ['preview', 'Preview'],
    ...(kind === 'table' ? [['sql', 'SQL'] as const] : []),
    ['info', 'Information'],
    ['history', 'History'],
  ] as const;

  return (
    <>
      <div className="page-head" style={{ marginBottom: 10 }}>
        <RefPicker
          repository={repository.id}
          defaultBranch={repository.default_branch}
          value={ref}
          kind={resolved?.kind}
          onChange={(chosen) => void navigate({ search: (was) => ({ ...was, ref: chosen }) })}
        />
        <UriBar repository={repository.id} ref={ref} path={path} />
        <div className="right row">
          <SnippetsMenu
            snippets={readSnippets({
              origin: globalThis.location.origin,
              repository: repository.id,
              ref,
              path,
            })}
          />
          <Button
            component="a"
            variant="default"
            leftSection={<Download size={15} />}
            href={objectUrl(repository.id, ref, path)}
            download={baseName(path)}
          >
            Download
          </Button>
        </div>
      </div>
      <h1 className="visually-hidden">{baseName(path)}</h1>
      {stat.error !== null &&
        (isNotFound(stat.error) ? (
          <EmptyState
            title={`${baseName(path)} is not on ${shortId(ref)}`}
            actions={
              <Button
                variant="default"
                component={Link}
                to="/repositories/$repo/objects"
                params={{ repo: repository.id } as never}
                search={{ ref, path: parentOf(path) || undefined } as never}
              >
                Go to its folder
              </Button>
            }
          >
            It may be on another branch or in an older commit: choose one above.
          </EmptyState>
        ) : (
          <ErrorNotice error={stat.error} onRetry={() => void stat.refetch()} />
        ))}
      {stat.isPending && <Skeletons rows={8} />}
      {stat.data !== undefined && (
        <section className="box" aria-label={baseName(path)}>
          <div className="box-head" style={{ paddingBottom: 0, paddingTop: 0 }}>
            <div className="tabs" role="tablist" aria-label="Views" style={{ margin: 0 }}>
              {tabs.map(([name, label]) => (
                <button
                  key={name}
                  type="button"
                  role="tab"
                  aria-selected={tab === name}
                  onClick={() =>
                    void navigate({
                      search: (was) => ({
                        ...was,
                        tab: name === 'preview' ? undefined : name,
                        line: undefined,
                      }),
                    })
                  }
                >
                  {label}
                </button>
              ))}
            </div>
            <span className="right small muted hide-narrow">
              {formatBytes(stat.data.size_bytes ?? 0)} · <Time seconds={stat.data.mtime} />
            </span>
          </div>
          <Suspense fallback={<Skeletons />}>
            {tab === 'preview' && <Preview stat={stat.data} refName={ref} kind={kind} />}
            {tab === 'sql' && <SqlTab refName={ref} path={path} />}
            {tab === 'info' && <Information stat={stat.data} refName={ref} />}
            {tab === 'history' && <PathHistory refName={ref} path={path} />}
          </Suspense>
        </section>
      )}
    </>
  );
}

function Information({ stat, refName }: { stat: ObjectStats; refName: string }): ReactNode {
  const repository = useRepository();
  const uri = svcUri(repository.id, refName, stat.path);
  const s3 = s3Uri(repository.id, refName, stat.path);
  const metadata = Object.entries(stat.metadata ?? {});
  return (
    <div className="box-body">
      <dl className="facts">
        <dt>Path</dt>
        <dd className="mono">{stat.path}</dd>
        <dt>URI</dt>
        <dd className="row nowrap">
          <code className="wrap">{uri}</code> <CopyButton text={uri} label="Copy URI" />
        </dd>
        <dt>S3 URI</dt>
        <dd className="row nowrap">
          <code className="wrap">{s3}</code> <CopyButton text={s3} label="Copy S3 URI" />
        </dd>
        <dt>Stored at</dt>
        <dd className="row nowrap">
          <code className="wrap">{stat.physical_address}</code>
          <CopyButton text={stat.physical_address} label="Copy physical address" />
        </dd>
        <dt>Size</dt>
        <dd>
          {formatBytes(stat.size_bytes ?? 0)} ({formatCount(stat.size_bytes ?? 0)} bytes)
        </dd>
        <dt>Modified</dt>
        <dd>{formatTime(stat.mtime)}</dd>
        <dt>Content type</dt>
        <dd>{stat.content_type}</dd>
        <dt>Checksum</dt>
        <dd className="mono">{stat.checksum}</dd>
        <dt>Metadata</dt>
        <dd>
          {metadata.length === 0 && <span className="muted">none</span>}
          {metadata.map(([key, value]) => (
            <div key={key}>
              <Tag>{key}</Tag> {value}
            </div>
          ))}
        </dd>
        <dt>In the browser</dt>
        <dd>
          <a href={objectUrl(repository.id, refName, stat.path)} target="_blank" rel="noopener noreferrer">
            Open the raw object <ExternalLink size={12} aria-hidden />
          </a>
        </dd>
      </dl>
    </div>
  );
}
