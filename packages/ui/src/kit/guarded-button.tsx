import { Button } from '@mantine/core';
import type { ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Hint } from './hint.tsx';

/** A button that says why it cannot be pressed; it stays reachable, so that everybody can learn the reason. */
export function GuardedButton({
  reason,
  label,
  onClick,
  ...button
}: ButtonProps & { reason: string | undefined; label?: string; onClick: () => void }): ReactNode {
  const refused = reason !== undefined;
  return (
    <Hint label={reason}>
      <Button
        {...button}
        {...(refused && { 'data-disabled': true })}
        aria-disabled={refused}
        aria-label={label}
        onClick={() => {
          if (!refused) onClick();
        }}
      />
    </Hint>
  );
}
