import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, Skeletons, Time, usePageTitle } from '../../kit/basics.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { SnippetsMenu } from '../../kit/snippets-menu.tsx';
import { UriBar } from '../../kit/uri-bar.tsx';
import { fileKind } from '../../lib/file-kind.ts';
import { formatBytes, shortId } from '../../lib/format.ts';
import { baseName, objectUrl, parentOf } from '../../lib/paths.ts';
import { isNotFound, statQuery } from '../../lib/queries.ts';
import { readSnippets } from '../../lib/snippets.ts';
import { isJsonLines } from '../../lib/sql-files.ts';
import { useCurrentRef, useRepository } from '../shell/repository-context.tsx';
import { TimeBanner } from '../time/time-banner.tsx';
import { Information } from './information.tsx';
import { ObjectMenu } from './object-menu.tsx';
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
  const { ref, resolved, isBranch, readOnlyReason } = useCurrentRef(search.ref);
  usePageTitle(baseName(path), shortId(ref), repository.id);
  const stat = useQuery(statQuery(repository.id, ref, path));
  const kind = fileKind(path, stat.data?.content_type ?? '');
  const tab = search.tab ?? 'preview';
  const tabs = [
    ['preview', 'Preview'],
    ...(kind === 'table' || isJsonLines(path) ? [['sql', 'SQL'] as const] : []),
    ['info', 'Information'],
    ['history', 'History'],
  ] as const;

  return (
    <>
      <div className="page-head near">
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
          {stat.data !== undefined && (
            <ObjectMenu stat={stat.data} refName={ref} kind={kind} readOnlyReason={readOnlyReason} />
          )}
        </div>
      </div>
      <h1 className="visually-hidden">{baseName(path)}</h1>
      <TimeBanner
        resolved={resolved}
        onRef={(chosen) => void navigate({ search: (was) => ({ ...was, ref: chosen }) })}
      />
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
          <div className="box-head with-tabs">
            <div className="tabs flush" role="tablist" aria-label="Views">
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
            {tab === 'info' && (
              <Information
                stat={stat.data}
                refName={ref}
                canEdit={isBranch && readOnlyReason === undefined}
              />
            )}
            {tab === 'history' && <PathHistory refName={ref} path={path} />}
          </Suspense>
        </section>
      )}
    </>
  );
}
