/** Every event that actions may listen to. Those that begin with `post-` run after the operation, the others before. */
export const eventTypes = [
  'prepare-commit',
  'pre-commit',
  'post-commit',
  'pre-merge',
  'post-merge',
  'pre-create-branch',
  'post-create-branch',
  'pre-delete-branch',
  'post-delete-branch',
  'pre-create-tag',
  'post-create-tag',
  'pre-delete-tag',
  'post-delete-tag',
  'pre-revert',
  'post-revert',
  'pre-cherry-pick',
  'post-cherry-pick',
] as const;

export type EventType = (typeof eventTypes)[number];

export function isEventType(name: string): name is EventType {
  return (eventTypes as readonly string[]).includes(name);
}
