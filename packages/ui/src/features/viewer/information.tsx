import { Button } from '@mantine/core';
import { ExternalLink, Pencil } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { CopyButton, ExactTime, Tag } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { MetadataFields } from '../../kit/metadata-fields.tsx';
import { client } from '../../lib/api.ts';
import type { ObjectStats } from '../../lib/api.ts';
import { formatBytes, formatCount } from '../../lib/format.ts';
import { checkMetadata, toMetadata } from '../../lib/metadata-rules.ts';
import type { MetadataPair } from '../../lib/metadata-rules.ts';
import { baseName, objectUrl, s3Uri, svcUri } from '../../lib/paths.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';

/** Everything that is known of an object besides its bytes. */
export function Information({
  stat,
  refName,
  canEdit,
}: {
  stat: ObjectStats;
  refName: string;
  canEdit: boolean;
}): ReactNode {
  const repository = useRepository();
  const uri = svcUri(repository.id, refName, stat.path);
  const s3 = s3Uri(repository.id, refName, stat.path);
  const metadata = Object.entries(stat.metadata ?? {});
  const [editing, setEditing] = useState(false);
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
        <dd>
          <ExactTime seconds={stat.mtime} />
        </dd>
        <dt>Content type</dt>
        <dd>{stat.content_type}</dd>
        <dt>Checksum</dt>
        <dd className="mono">{stat.checksum}</dd>
        <dt>Metadata</dt>
        <dd>
          {metadata.length === 0 && <span className="muted">none </span>}
          {metadata.map(([key, value]) => (
            <div key={key}>
              <Tag>{key}</Tag> {value}
            </div>
          ))}
          {canEdit && (
            <Button
              variant="default"
              size="compact-xs"
              leftSection={<Pencil size={12} />}
              onClick={() => setEditing(true)}
            >
              Edit metadata
            </Button>
          )}
        </dd>
        <dt>In the browser</dt>
        <dd>
          <a href={objectUrl(repository.id, refName, stat.path)} target="_blank" rel="noopener noreferrer">
            Open the raw object <ExternalLink size={12} aria-hidden />
          </a>
        </dd>
      </dl>
      {editing && <MetadataDialog stat={stat} branch={refName} onClose={() => setEditing(false)} />}
    </div>
  );
}

/** The metadata of an object is replaced as a whole; the change is uncommitted like any other. */
function MetadataDialog({
  stat,
  branch,
  onClose,
}: {
  stat: ObjectStats;
  branch: string;
  onClose: () => void;
}): ReactNode {
  const repository = useRepository();
  const [pairs, setPairs] = useState<MetadataPair[]>(() =>
    Object.entries(stat.metadata ?? {}).map(([key, value]) => ({ key, value })),
  );
  const [touched, setTouched] = useState(false);
  const save = useWrite(
    () =>
      client.put('/repositories/{repository}/branches/{branch}/objects/stat/user_metadata', {
        params: { path: { repository: repository.id, branch }, query: { path: stat.path } },
        body: { set: toMetadata(pairs) },
      }),
    onClose,
  );
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={`Metadata of ${baseName(stat.path)}`}
      action="Save"
      busy={save.isPending}
      error={save.error}
      onSubmit={() => {
        setTouched(true);
        if (checkMetadata(pairs).every((problem) => problem === undefined)) save.mutate(undefined);
      }}
    >
      <MetadataFields pairs={pairs} onChange={setPairs} touched={touched} disabled={save.isPending} />
    </FormDialog>
  );
}
