import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import type { FormEvent, KeyboardEvent, ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { ErrorNotice } from './basics.tsx';

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly size?: string | number;
  /** The dialog cannot be closed while work runs. */
  readonly busy?: boolean;
  /** It is closed by a button of its own only: what it shows cannot be shown again. */
  readonly firm?: boolean;
  /** Above whatever other dialog is open. */
  readonly topmost?: boolean;
  readonly children: ReactNode;
}

export function Dialog({
  opened,
  onClose,
  title,
  size = 520,
  busy = false,
  firm = false,
  topmost = false,
  children,
}: DialogProps): ReactNode {
  return (
    <Modal
      opened={opened}
      onClose={() => {
        if (!busy) onClose();
      }}
      title={title}
      size={size}
      zIndex={topmost ? 400 : 200}
      closeOnEscape={!firm}
      closeOnClickOutside={!firm}
      withCloseButton={!firm}
      closeButtonProps={{ 'aria-label': 'Close dialog' }}
      transitionProps={{ duration: 0 }}
    >
      {children}
    </Modal>
  );
}

/** A form in a dialog: fields, an error, Cancel and the one action. */
export function FormDialog({
  action,
  onSubmit,
  error,
  disabled = false,
  danger = false,
  children,
  ...dialog
}: DialogProps & {
  readonly action: string;
  readonly onSubmit: () => void;
  readonly error?: unknown;
  readonly disabled?: boolean;
  readonly danger?: boolean;
}): ReactNode {
  const submit = (): void => {
    if (!disabled && dialog.busy !== true) onSubmit();
  };
  return (
    <Dialog {...dialog}>
      <form
        className="stack"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          submit();
        }}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          submit();
        }}
      >
        {children}
        {error !== undefined && error !== null && <ErrorNotice error={error} />}
        <div className="row end">
          <kbd className="enter-hint hide-narrow">Ctrl Enter</kbd>
          <Button variant="default" onClick={dialog.onClose} disabled={dialog.busy === true}>
            Cancel
          </Button>
          <Button
            type="submit"
            color={danger ? 'danger' : 'brand'}
            loading={dialog.busy === true}
            disabled={disabled}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Asks before something is lost. What cannot be undone must be confirmed by typing its name. */
export function ConfirmDialog({
  typed,
  children,
  ...dialog
}: DialogProps & {
  readonly action: string;
  readonly onSubmit: () => void;
  readonly error?: unknown;
  readonly danger?: boolean;
  /** Text the user must type to confirm. */
  readonly typed?: string;
}): ReactNode {
  const [text, setText] = useState('');
  return (
    <FormDialog danger {...dialog} disabled={typed !== undefined && text !== typed}>
      <div>{children}</div>
      {typed !== undefined && (
        <TextInput
          label={`Type ${typed} to confirm`}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          data-autofocus
          autoComplete="off"
        />
      )}
    </FormDialog>
  );
}
