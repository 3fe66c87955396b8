import { notifications } from '@mantine/notifications';

/** Copies and says so. */
export function copyText(text: string, what: string): void {
  void navigator.clipboard.writeText(text);
  notifications.show({ message: `${what} copied`, autoClose: 2000 });
}
