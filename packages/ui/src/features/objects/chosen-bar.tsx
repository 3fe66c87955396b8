import { Button, CloseButton } from '@mantine/core';
import { Copy, Download, FolderInput, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Choice } from '../../kit/choice.tsx';
import { Hint } from '../../kit/hint.tsx';
import { formatBytes, plural } from '../../lib/format.ts';
import type { MarkedEntry } from '../../lib/listing.ts';
import { archiveUrl } from '../../lib/paths.ts';
import type { EntryRequest } from './entry-dialogs.tsx';

/** What can be done with all chosen entries at once. */
export function ChosenBar({
  choice,
  place,
  canWrite,
  canDelete,
  onAsk,
}: {
  choice: Choice<MarkedEntry>;
  place: Parameters<typeof archiveUrl>[0];
  canWrite: boolean;
  canDelete: boolean;
  onAsk: (request: EntryRequest) => void;
}): ReactNode {
  const entries = [...choice.rows.values()];
  if (entries.length === 0) return null;
  const bytes = entries.reduce((sum, { size_bytes = 0 }) => sum + size_bytes, 0);
  const archive = archiveUrl(
    place,
    entries.map(({ path }) => path),
  );
  const folders = entries.filter(({ path_type }) => path_type === 'common_prefix').length;
  return (
    <div className="chosen-bar row" role="toolbar" aria-label="Selected entries">
      <strong>{entries.length} selected</strong>
      <span className="muted small">
        {folders > 0 && `${plural(folders, 'folder')}, `}
        {plural(entries.length - folders, 'object')}, {formatBytes(bytes)}
      </span>
      <div className="right row">
        <Hint label={archive === undefined ? 'These are too many to name: download their folder' : undefined}>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Download size={14} />}
            component="a"
            href={archive}
            download
            disabled={archive === undefined}
          >
            Download
          </Button>
        </Hint>
        {canWrite && canDelete && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<FolderInput size={14} />}
            onClick={() => onAsk({ what: 'move', entries })}
          >
            Move
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Copy size={14} />}
          onClick={() => onAsk({ what: 'copy', entries })}
        >
          Copy
        </Button>
        {canDelete && (
          <Button
            size="compact-sm"
            color="danger"
            leftSection={<Trash2 size={14} />}
            onClick={() => onAsk({ what: 'delete', entries })}
          >
            Delete
          </Button>
        )}
        <CloseButton aria-label="Clear the selection" onClick={choice.clear} />
      </div>
    </div>
  );
}
