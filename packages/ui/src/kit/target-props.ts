import type { ComponentProps } from 'react';

/** What a menu passes to the button it opens from. */
export type TargetProps = Pick<
  ComponentProps<'button'>,
  'ref' | 'onClick' | 'onKeyDown' | 'onMouseDown' | 'id' | 'aria-haspopup' | 'aria-expanded' | 'aria-controls'
>;
