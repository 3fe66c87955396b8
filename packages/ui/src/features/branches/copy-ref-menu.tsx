import { ActionIcon, Menu } from '@mantine/core';
import { Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { copyText } from '../../kit/copy-text.ts';
import { s3Uri, svcUri } from '../../lib/paths.ts';

/** The names by which other tools know a branch or tag. */
export function CopyRefMenu({
  repository,
  name,
  commitId,
}: {
  repository: string;
  name: string;
  commitId: string;
}): ReactNode {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={26} aria-label={`Copy names of ${name}`}>
          <Copy size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => copyText(svcUri(repository, name), 'URI')}>Copy URI</Menu.Item>
        <Menu.Item onClick={() => copyText(s3Uri(repository, name), 'S3 URI')}>Copy S3 URI</Menu.Item>
        <Menu.Item onClick={() => copyText(commitId, 'Commit id')}>Copy commit id</Menu.Item>
        <Menu.Item onClick={() => copyText(name, 'Name')}>Copy name</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
