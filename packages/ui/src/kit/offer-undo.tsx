import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { explain } from '../lib/explain.ts';
import { refreshAll } from '../lib/queries.ts';

/** Says what was done, with a way to take it back. */
export function offerUndo(done: string, undo: () => Promise<unknown>): void {
  const takeBack = async (): Promise<void> => {
    notifications.hide(id);
    try {
      await undo();
      notifications.show({ message: 'Taken back' });
    } catch (error) {
      const { title, text } = explain(error);
      notifications.show({ color: 'danger', title, message: text });
    }
    await refreshAll();
  };
  const id = notifications.show({
    autoClose: 10_000,
    message: (
      <span className="row">
        {done}
        <Button variant="default" size="compact-sm" onClick={() => void takeBack()}>
          Undo
        </Button>
      </span>
    ),
  });
}
