import { Button, Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { CopyButton, ErrorNotice, ExactTime, Notice, Tag, usePageTitle } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { MetadataFields } from '../../kit/metadata-fields.tsx';
import { said } from '../../kit/said.ts';
import { client } from '../../lib/api.ts';
import { checkMetadata, toMetadata } from '../../lib/metadata-rules.ts';
import type { MetadataPair } from '../../lib/metadata-rules.ts';
import { repositoryMetadataQuery, useStorageOf, useWrite } from '../../lib/queries.ts';
import { refusalOf } from '../../lib/refusals.ts';
import { BucketCaution } from '../buckets/bucket-caution.tsx';
import { PlaceText } from '../buckets/place-text.tsx';
import { useAliasesOf } from '../buckets/use-aliases-of.ts';
import { useCurrentRef, useRefusal, useRepository } from '../shell/repository-context.tsx';

export function GeneralSettings(): ReactNode {
  const repository = useRepository();
  const storage = useStorageOf(repository);
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  const [withData, setWithData] = useState(false);
  const aliases = useAliasesOf(repository.id);
  const { rights } = useCurrentRef(undefined).resolved ?? {};
  // A read-only repository can be deleted.
  const mayNotDelete = refusalOf('fs:DeleteRepository', rights);
  usePageTitle('Settings', repository.id);
  const remove = useWrite(
    () =>
      client.delete('/repositories/{repository}', {
        params: { path: { repository: repository.id }, query: { delete_data: withData } },
      }),
    () => void navigate({ to: '/repositories' }),
  );
  return (
    <div className="stack">
      <h1 className="page-title">General settings</h1>
      {storage === undefined && (
        <Notice kind="error" title="The storage of this repository is not configured">
          This server has no storage named “{repository.storage_id}”; its data cannot be read until one is.
        </Notice>
      )}
      <section className="box" aria-label="Repository">
        <div className="box-body">
          <dl className="facts">
            <dt>Name</dt>
            <dd>{repository.id}</dd>
            <dt>Storage namespace</dt>
            <dd className="row nowrap">
              <code className="wrap">{repository.storage_namespace}</code>
              <CopyButton text={repository.storage_namespace} label="Copy storage namespace" />
            </dd>
            {repository.storage_id !== undefined && repository.storage_id !== '' && (
              <>
                <dt>Storage</dt>
                <dd>{repository.storage_id}</dd>
              </>
            )}
            <dt>Default branch</dt>
            <dd>
              <Tag>{repository.default_branch}</Tag>
            </dd>
            <dt>Created</dt>
            <dd>
              <ExactTime seconds={repository.creation_date} />
            </dd>
            <dt>Read-only</dt>
            <dd>{repository.read_only === true ? 'yes' : 'no'}</dd>
          </dl>
        </div>
      </section>
      <RepositoryMetadata />
      {aliases.length > 0 && (
        <section className="box" aria-label="Buckets">
          <div className="box-head">
            <h2>Buckets that show this repository</h2>
          </div>
          <ul className="plain-list">
            {aliases.map((alias) => (
              <li key={alias.name} className="row nowrap">
                <Link to="/auth/buckets/$name" params={{ name: alias.name }}>
                  {alias.name}
                </Link>
                <span className="right small ellipsis">
                  <PlaceText place={alias} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="box danger" aria-label="Delete repository">
        <div className="box-body row">
          <div className="grow settings-text">
            <strong>Delete this repository</strong>
            <div className="muted">
              It can be brought back for a while, with everything it has. Objects in the store stay.
            </div>
          </div>
          <GuardedButton
            color="danger"
            variant="outline"
            c="var(--svc-removed)"
            reason={mayNotDelete}
            onClick={() => setDeleting(true)}
          >
            Delete repository
          </GuardedButton>
        </div>
      </section>
      <ConfirmDialog
        opened={deleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${repository.id}`}
        action="Delete repository"
        typed={repository.id}
        busy={remove.isPending}
        error={remove.error}
        onSubmit={() => remove.mutate(undefined)}
      >
        The repository can be brought back under Repositories → Deleted, until what the server keeps of it is
        removed. Open uploads and runs of hooks do not come back. The objects stay at{' '}
        <code className="wrap">{repository.storage_namespace}</code>.
        <BucketCaution aliases={aliases} />
        <Checkbox
          mt="sm"
          label="Also delete its data, 7 days from now"
          checked={withData}
          onChange={(event) => setWithData(event.currentTarget.checked)}
        />
      </ConfirmDialog>
    </div>
  );
}

function RepositoryMetadata(): ReactNode {
  const repository = useRepository();
  const path = { repository: repository.id };
  const refusal = useRefusal()('fs:UpdateRepository');
  const [edited, setEdited] = useState<MetadataPair[]>();
  const { data, error } = useQuery(repositoryMetadataQuery(repository.id));
  const stored = Object.entries(data ?? {}).map(([key, value]) => ({ key, value }));
  const pairs = edited ?? stored;
  const save = useWrite(
    async (next: readonly MetadataPair[]): Promise<void> => {
      const metadata = toMetadata(next);
      const gone = stored.map(({ key }) => key).filter((key) => !(key in metadata));
      if (gone.length > 0)
        await client.delete('/repositories/{repository}/metadata', {
          params: { path },
          body: { keys: gone },
        });
      if (next.length > 0)
        await client.post('/repositories/{repository}/metadata', { params: { path }, body: { metadata } });
    },
    () => {
      setEdited(undefined);
      said('Metadata saved');
    },
  );
  return (
    <section className="box" aria-label="Metadata">
      <div className="box-head">
        <h2>Description and metadata</h2>
      </div>
      <div className="box-body stack">
        {error !== null && <ErrorNotice error={error} />}
        {refusal !== undefined && <span className="muted small">{refusal}</span>}
        <MetadataFields
          pairs={pairs}
          onChange={setEdited}
          touched={edited !== undefined}
          disabled={refusal !== undefined}
        />
        {save.error !== null && <ErrorNotice error={save.error} />}
        {edited !== undefined && (
          <div className="row">
            <Button
              loading={save.isPending}
              disabled={checkMetadata(edited).some((problem) => problem !== undefined)}
              onClick={() => save.mutate(edited)}
            >
              Save metadata
            </Button>
            <Button variant="default" onClick={() => setEdited(undefined)}>
              Discard
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}
