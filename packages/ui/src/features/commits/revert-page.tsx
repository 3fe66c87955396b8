import { Button, Checkbox, Select, Textarea } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useQueries } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Notice, Skeletons, Time, usePageTitle } from '../../kit/basics.tsx';
import { MetadataFields } from '../../kit/metadata-fields.tsx';
import { client } from '../../lib/api.ts';
import { plural, shortId, summaryOf } from '../../lib/format.ts';
import { checkMetadata, toMetadata } from '../../lib/metadata-rules.ts';
import type { MetadataPair } from '../../lib/metadata-rules.ts';
import { commitQuery, refreshAll } from '../../lib/queries.ts';
import { ConflictResolver } from '../changes/conflict-resolver.tsx';
import { commitMeeting } from '../changes/meetings.ts';
import type { MergeSteering } from '../changes/merge-dialog.tsx';
import { useRepository } from '../shell/repository-context.tsx';

/** Takes back commits, newest first, each by a commit of its own. */
export function RevertPage(): ReactNode {
  const repository = useRepository();
  const { branch } = useParams({ from: '/app/repositories/$repo/branches/$branch/revert' });
  const { commits: joined = '' } = useSearch({ from: '/app/repositories/$repo/branches/$branch/revert' });
  const navigate = useNavigate();
  const ids = joined.split(',').filter((id) => id !== '');
  usePageTitle(`Revert on ${branch}`, repository.id);
  const queries = useQueries({ queries: ids.map((id) => commitQuery(repository.id, id)) });
  const single = ids.length === 1;
  const [message, setMessage] = useState(`Revert commit ${shortId(ids[0] ?? '')}`);
  const [metadata, setMetadata] = useState<MetadataPair[]>([]);
  const [touched, setTouched] = useState(false);
  const [allowEmpty, setAllowEmpty] = useState(false);
  const [parents, setParents] = useState<Record<string, string>>({});
  const [done, setDone] = useState(0);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const loaded = queries.map(({ data }) => data).filter((commit) => commit !== undefined);
  const unchosen = loaded.some((commit) => commit.parents.length > 1 && parents[commit.id] === undefined);

  const run = async (steering?: MergeSteering): Promise<void> => {
    setTouched(true);
    if (checkMetadata(metadata).some((problem) => problem !== undefined)) return;
    setBusy(true);
    setError(undefined);
    let finished = done;
    try {
      for (const [index, id] of ids.slice(done).entries()) {
        await client.post('/repositories/{repository}/branches/{branch}/revert', {
          params: { path: { repository: repository.id, branch } },
          body: {
            ref: id,
            parent_number: Number(parents[id] ?? 0),
            allow_empty: allowEmpty,
            // The conflicts that were settled are those of the commit that stopped.
            ...(index === 0 &&
              steering !== undefined && {
                expected_destination: steering.expected_destination,
                resolutions: steering.resolutions,
              }),
            ...(single && { commit_overrides: { message, metadata: toMetadata(metadata) } }),
          },
        });
        finished++;
        setDone(finished);
      }
      await navigate({
        to: '/repositories/$repo/commits',
        params: { repo: repository.id },
        search: { ref: branch },
      });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
      void refreshAll();
    }
  };

  const stopped = error instanceof ApiError && error.status === 409 ? ids[done] : undefined;
  return (
    <div className="stack readable">
      <h1 className="page-title">
        Revert {plural(ids.length, 'commit')} on {branch}
      </h1>
      <div className="muted">Each commit below is taken back by a new commit; history stays as it is.</div>
      <section className="box" aria-label="Commits to revert">
        {loaded.length < ids.length && <Skeletons rows={ids.length} />}
        {loaded.map((commit, index) => (
          <div key={commit.id} className="diff-row">
            <div className="grow">
              <Link
                to="/repositories/$repo/commits/$commitId"
                params={{ repo: repository.id, commitId: commit.id }}
              >
                {summaryOf(commit.message)}
              </Link>
              <div className="small muted">
                <code>{shortId(commit.id)}</code> {commit.committer !== '' && `by ${commit.committer}, `}
                <Time seconds={commit.creation_date} />
              </div>
            </div>
            {commit.parents.length > 1 && (
              <Select
                size="xs"
                w={220}
                aria-label={`Parent of ${shortId(commit.id)} to return to`}
                placeholder="A merge: choose a parent"
                value={parents[commit.id] ?? null}
                data={commit.parents.map((id, order) => ({
                  value: String(order + 1),
                  label: `Parent ${order + 1}: ${shortId(id)}`,
                }))}
                onChange={(value) => value !== null && setParents((was) => ({ ...was, [commit.id]: value }))}
              />
            )}
            {index < done && <span className="tag added">Reverted</span>}
          </div>
        ))}
      </section>
      {single ? (
        <>
          <Textarea
            label="Message"
            autosize
            minRows={2}
            value={message}
            onChange={(event) => setMessage(event.currentTarget.value)}
          />
          <MetadataFields pairs={metadata} onChange={setMetadata} touched={touched} />
        </>
      ) : (
        <Notice>Several commits get the messages the server writes.</Notice>
      )}
      <Checkbox
        label="Commit even when nothing changes"
        checked={allowEmpty}
        onChange={(event) => setAllowEmpty(event.currentTarget.checked)}
      />
      {error !== undefined && (
        <>
          {done > 0 && (
            <Notice kind="warn" title={`${plural(done, 'commit')} reverted, then it stopped`}>
              {shortId(ids[done] ?? '')} could not be reverted; the reverts before it stay.
            </Notice>
          )}
          <ErrorNotice error={error} />
          {stopped !== undefined && (
            <ConflictResolver
              repository={repository.id}
              meeting={commitMeeting(
                'revert',
                { repository: repository.id, branch },
                {
                  ref: stopped,
                  parent_number: Number(parents[stopped] ?? 0),
                  name: `before ${shortId(stopped)}`,
                },
              )}
              busy={busy}
              onMerge={(steering) => void run(steering)}
            />
          )}
        </>
      )}
      <div className="row">
        <Button loading={busy} disabled={ids.length === 0 || unchosen} onClick={() => void run()}>
          {busy && ids.length > 1 ? `Reverting ${done + 1} of ${ids.length}` : 'Revert'}
        </Button>
        <Button
          variant="default"
          disabled={busy}
          onClick={() =>
            void navigate({
              to: '/repositories/$repo/commits',
              params: { repo: repository.id },
              search: { ref: branch },
            })
          }
        >
          Cancel
        </Button>
      </div>
    </div>
  );
}
