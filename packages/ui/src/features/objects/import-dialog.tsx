import { ActionIcon, Button, Select, Textarea, TextInput } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Notice } from '../../kit/basics.tsx';
import { Dialog, FormDialog } from '../../kit/dialog.tsx';
import { MetadataFields } from '../../kit/metadata-fields.tsx';
import { client } from '../../lib/api.ts';
import { checkMetadata, toMetadata } from '../../lib/metadata-rules.ts';
import type { MetadataPair } from '../../lib/metadata-rules.ts';
import { useStorageOf, useWrite } from '../../lib/queries.ts';
import { rememberImport } from '../../lib/works.ts';
import { useRepository } from '../shell/repository-context.tsx';

interface Source {
  readonly path: string;
  readonly destination: string;
  readonly type: 'common_prefix' | 'object';
}

interface ImportDialogProps {
  readonly branch: string;
  readonly prefix: string;
  readonly onClose: () => void;
}

/** Points a branch at data that is already in the object store. The import continues after leaving the page. */
export function ImportDialog({ branch, prefix, onClose }: ImportDialogProps): ReactNode {
  const repository = useRepository();
  const storage = useStorageOf(repository);
  const [sources, setSources] = useState<Source[]>([
    { path: '', destination: prefix, type: 'common_prefix' },
  ]);
  const [message, setMessage] = useState('');
  const [metadata, setMetadata] = useState<MetadataPair[]>([]);
  const [touched, setTouched] = useState(false);
  const start = useWrite(
    () =>
      client.post('/repositories/{repository}/branches/{branch}/import', {
        params: { path: { repository: repository.id, branch } },
        body: { paths: sources, commit: { message, metadata: toMetadata(metadata) } },
      }),
    ({ id }) => {
      rememberImport({ repository: repository.id, branch, id });
      onClose();
    },
  );
  if (storage?.import_support === false) {
    return (
      <Dialog opened onClose={onClose} title={`Import into ${branch}`}>
        <Notice kind="warn" title="This storage cannot be imported from">
          The server is not set up to read data that lies outside its repositories. Upload files instead, or
          ask whoever runs it to allow imports.
        </Notice>
      </Dialog>
    );
  }
  const rule = storage?.import_validity_regex ?? '';
  const errorOf = ({ path }: Source): string | undefined => {
    if (!touched) return undefined;
    if (path === '') return 'An address is required';
    try {
      return rule === '' || new RegExp(rule).test(path) ? undefined : `Must match ${rule}`;
    } catch {
      return undefined;
    }
  };
  const set = (index: number, change: Partial<Source>): void =>
    setSources((was) => was.map((source, i) => (i === index ? { ...source, ...change } : source)));
  const bad =
    sources.some(({ path }) => path === '') || checkMetadata(metadata).some((error) => error !== undefined);

  return (
    <FormDialog
      opened
      onClose={onClose}
      title={`Import into ${branch}`}
      action="Import"
      size={680}
      busy={start.isPending}
      error={start.error}
      onSubmit={() => {
        setTouched(true);
        if (!bad) start.mutate(undefined);
      }}
    >
      <Notice>No data is copied: the objects stay where they are and this branch points to them.</Notice>
      {sources.map((source, index) => (
        <fieldset key={index} className="box field-box">
          <legend className="visually-hidden">Source {index + 1}</legend>
          <div className="stack tight">
            <div className="row nowrap bottom">
              <TextInput
                className="grow"
                label="Source address"
                placeholder={
                  storage?.blockstore_type === 'local'
                    ? 'local://folder/'
                    : (storage?.blockstore_namespace_example ?? 's3://bucket/')
                }
                value={source.path}
                error={errorOf(source)}
                onChange={(event) => set(index, { path: event.currentTarget.value })}
              />
              {sources.length > 1 && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  aria-label={`Remove source ${index + 1}`}
                  onClick={() => setSources((was) => was.filter((_, i) => i !== index))}
                >
                  <X size={15} />
                </ActionIcon>
              )}
            </div>
            <div className="row nowrap bottom">
              <Select
                label="What it names"
                w={190}
                allowDeselect={false}
                data={[
                  { value: 'common_prefix', label: 'Everything under it' },
                  { value: 'object', label: 'One object' },
                ]}
                value={source.type}
                onChange={(value) => set(index, { type: value === 'object' ? 'object' : 'common_prefix' })}
              />
              <TextInput
                className="grow"
                label="Destination"
                placeholder="folder/"
                value={source.destination}
                onChange={(event) => set(index, { destination: event.currentTarget.value })}
              />
            </div>
          </div>
        </fieldset>
      ))}
      <div>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Plus size={14} />}
          onClick={() =>
            setSources((was) => [...was, { path: '', destination: prefix, type: 'common_prefix' }])
          }
        >
          Add source
        </Button>
      </div>
      <Textarea
        label="Commit message"
        autosize
        minRows={2}
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
      />
      <MetadataFields pairs={metadata} onChange={setMetadata} touched={touched} />
    </FormDialog>
  );
}
