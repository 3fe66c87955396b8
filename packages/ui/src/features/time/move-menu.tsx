import { ActionIcon, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { EllipsisVertical, FileStack, GitCompareArrows, RotateCcw, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RefMove } from '../../lib/api.ts';
import { useRepository } from '../shell/repository-context.tsx';
import type { RestoreRequest } from './restore-dialog.tsx';
import type { RollbackRequest } from './rollback-dialog.tsx';

export type MoveRequest =
  | ({ readonly what: 'restore' } & RestoreRequest)
  | ({ readonly what: 'rollback' } & RollbackRequest);

/** What can be done with a move: look at either side, compare them, or take it back. */
export function MoveMenu({ move, onAsk }: { move: RefMove; onAsk: (asked: MoveRequest) => void }): ReactNode {
  const repository = useRepository();
  const navigate = useNavigate();
  const params = { repo: repository.id };
  const { id, kind, ref_id: ref, ref_type: type, old_commit_id: before, new_commit_id: after } = move;
  const browse = (commitId: string): void =>
    void navigate({ to: '/repositories/$repo/objects', params, search: { ref: commitId } });
  const canWrite = repository.read_only !== true;
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={26} aria-label={`Actions of ${kind} of ${ref}`}>
          <EllipsisVertical size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {before !== undefined && (
          <Menu.Item leftSection={<FileStack size={15} />} onClick={() => browse(before)}>
            Browse before
          </Menu.Item>
        )}
        {after !== undefined && (
          <Menu.Item leftSection={<FileStack size={15} />} onClick={() => browse(after)}>
            Browse after
          </Menu.Item>
        )}
        {before !== undefined && after !== undefined && before !== after && (
          <Menu.Item
            leftSection={<GitCompareArrows size={15} />}
            onClick={() =>
              void navigate({
                to: '/repositories/$repo/compare',
                params,
                search: { ref: before, compare: after, mode: 'two-dot' },
              })
            }
          >
            Compare
          </Menu.Item>
        )}
        {canWrite && kind === 'delete' && before !== undefined && (
          <Menu.Item
            leftSection={<Undo2 size={15} />}
            onClick={() => onAsk({ what: 'restore', type, id: ref, commit_id: before, moveId: id })}
          >
            Restore
          </Menu.Item>
        )}
        {canWrite && type === 'branch' && kind !== 'delete' && (
          <>
            <Menu.Divider />
            {after !== undefined && (
              <Menu.Item
                leftSection={<RotateCcw size={15} />}
                onClick={() => onAsk({ what: 'rollback', branch: ref, to: after, commitId: after })}
              >
                Roll back to here
              </Menu.Item>
            )}
            {before !== undefined && (
              <Menu.Item
                leftSection={<RotateCcw size={15} />}
                onClick={() => onAsk({ what: 'rollback', branch: ref, to: id, commitId: before })}
              >
                Roll back to before this
              </Menu.Item>
            )}
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
