import { Button } from '@mantine/core';
import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import type { CredentialsWithSecret } from '../lib/api.ts';
import { cliConfig } from '../lib/snippets.ts';
import { CopyButton, Notice } from './basics.tsx';

/** Hands text to the browser as a file. */
export function saveFile(name: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** A fresh key pair, shown this once. */
export function SecretCard({ credentials }: { credentials: CredentialsWithSecret }): ReactNode {
  const { access_key_id: id, secret_access_key: secret } = credentials;
  return (
    <div className="stack">
      <Notice kind="warn" title="Save the secret now">
        It is shown only this once and cannot be read again.
      </Notice>
      <dl className="facts">
        <dt>Access key ID</dt>
        <dd className="row nowrap">
          <code>{id}</code> <CopyButton text={id} label="Copy access key ID" />
        </dd>
        <dt>Secret access key</dt>
        <dd className="row nowrap">
          <code className="wrap">{secret}</code> <CopyButton text={secret} label="Copy secret access key" />
        </dd>
      </dl>
      <div>
        <Button
          variant="default"
          leftSection={<Download size={15} />}
          onClick={() => saveFile('svcctl.yaml', cliConfig(globalThis.location.origin, id, secret))}
        >
          Download CLI configuration
        </Button>
      </div>
    </div>
  );
}
