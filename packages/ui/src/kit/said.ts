import { notifications } from '@mantine/notifications';

/** Says that something was done, for a moment. */
export function said(done: string): void {
  notifications.show({ message: done, autoClose: 4000 });
}
